"""Why a tensor has no gradient, or a zero one: one list of verdicts, one walk, for programs and for recorded calls."""
