"""Running programs: lowering to plans, the run loop, scopes."""
