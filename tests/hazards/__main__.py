"""Count the warned among scripts that end in NaN and among right ones: ``python -m tests.hazards [--record]``."""

from __future__ import annotations

import argparse

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.loading.loader import run_model
from gradtool.engine.recorders.recorded import archive
from gradtool.engine.request.request import Request

from . import RUNS, SCRIPTS, models, right, warnings


def record() -> None:
    """Record the first steps of the PyTorch scripts anew, where torch is installed."""
    RUNS.mkdir(exist_ok=True)
    for script in sorted(SCRIPTS.glob("torch_*.py")):
        request = Request.create(str(script), journal=True, unfinished=True, full_stacks=True)
        with archive.record_into(str(RUNS / f"{script.stem}.torchrun"), str(SCRIPTS)), run_model(request):
            pass


def main() -> None:
    """Print both figures, and what was missed or found in vain."""
    parser = argparse.ArgumentParser(prog="python -m tests.hazards", description=__doc__)
    parser.add_argument("--record", action="store_true", help="record the scripts of PyTorch first")
    if parser.parse_args().record:
        record()
    wrong, programs = models(), right()
    missed = [m.name for m in wrong if not warnings(m)]
    found = f"{len(wrong) - len(missed)} of {len(wrong)} scripts that end in NaN are warned of"
    print(found, *missed, sep="\n  missed: ", flush=True)
    in_vain, failed = [], []
    for program in programs:
        try:
            in_vain += [(program.name, f.message) for f in warnings(program)]
        except (CommandError, GradtoolError) as error:
            failed.append((program.name, error.message))
    print(f"{len(in_vain)} warnings in {len(programs) - len(failed)} right programs; not run: {len(failed)}")
    for name, message in [*in_vain, *failed]:
        print(f"  {name}: {message}")


if __name__ == "__main__":
    main()
