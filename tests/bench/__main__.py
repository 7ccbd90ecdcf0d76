"""What gradtool costs, subject by subject.

Run from the top of the repository::

    python -m tests.bench                  # the subjects
    python -m tests.bench NAME [OPTIONS]   # one of them; --help tells its options

Nothing is asserted: targets are printed beside what was found, and a person reads them.
"""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent
PARTS = (
    "__main__",
    "eager_process",
    "measuring",
    "memory_process",
    "recommender_models",
    "step_engines",
    "step_jax",
    "step_models",
    "step_results",
    "zoo_models",
    "zoo_process",
)
"""Files that are no subject of their own, beside the tests."""
SUBJECTS = sorted(p.stem for p in HERE.glob("*.py") if p.stem not in PARTS and not p.stem.startswith("test_"))


def main() -> None:
    """Run the subject that the command line names, or list them all."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in SUBJECTS:
        del sys.argv[1]
        runpy.run_module(f"tests.bench.{name}", run_name="__main__", alter_sys=True)
        return
    for subject in SUBJECTS:
        text = ast.get_docstring(ast.parse((HERE / f"{subject}.py").read_text(encoding="utf-8"))) or ""
        print(f"{subject:<10} {text.partition(chr(10))[0]}")
    if name not in ("", "-h", "--help"):
        sys.exit(f"no subject {name!r}")


if __name__ == "__main__":
    main()
