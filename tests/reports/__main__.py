"""Record the PyTorch scripts anew where torch is installed: ``python -m tests.reports [--limit SECONDS] [NAME …]``."""

from __future__ import annotations

import argparse

from gradtool.engine.loading.loader import run_model
from gradtool.engine.recorders.recorded import archive
from gradtool.engine.request.request import Request

from . import RUNS, SCRIPTS


def record(name: str, limit: float | None) -> None:
    """Run one script under the recorder and write its run next to the others."""
    request = Request.create(str(SCRIPTS / f"{name}.py"), journal=True, unfinished=True, full_stacks=True, limit=limit)
    RUNS.mkdir(exist_ok=True)
    with archive.record_into(str(RUNS / f"{name}.torchrun"), str(SCRIPTS)), run_model(request):
        pass


def main() -> None:
    """Record the named scripts, or all whose runs are there already."""
    parser = argparse.ArgumentParser(prog="python -m tests.reports", description=__doc__)
    parser.add_argument("--limit", type=float, help="seconds after which a script is cut")
    parser.add_argument("names", nargs="*", help="scripts without .py; all that have a run where none is named")
    options = parser.parse_args()
    for name in options.names or sorted(run.stem for run in RUNS.glob("*.torchrun")):
        record(name, options.limit)
        print(f"recorded {name}")


if __name__ == "__main__":
    main()
