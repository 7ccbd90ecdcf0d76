"""JAX before it is imported: programs of tests run once, so that compiling them well does not pay."""

from __future__ import annotations

import os

QUICK = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"

os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {QUICK}".strip()
