"""Ask every question about every program, live: ``python -m tests.repeats [--record]``, where torch is installed."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from gradtool.engine.loading.loader import Request, run_model
from gradtool.engine.recorders.recorded import archive

from . import CASES, QUESTIONS, RUNS, text


def record(script: Path) -> None:
    """Record a program of PyTorch anew."""
    RUNS.mkdir(exist_ok=True)
    request = Request.create(str(script), journal=True, unfinished=True, full_stacks=True)
    with archive.record_into(str(RUNS / f"{script.stem}.torchrun"), str(script.parent)), run_model(request):
        pass


def main() -> None:
    """Print each answer: ``=`` where all repeats, else what does not; and how many are wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.repeats", description=__doc__)
    parser.add_argument("--record", action="store_true", help="record the programs of PyTorch first")
    recording = parser.parse_args().record
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in CASES:
            script = Path(folder) / f"{name}.py"
            script.write_text(text(name), encoding="utf-8")
            if recording and name.startswith("torch_"):
                record(script)
            for question, ask in QUESTIONS.items():
                try:
                    said = "; ".join(dict.fromkeys(ask(Request(str(script))))) or "="
                except Exception as error:
                    wrong += 1
                    said = f"WRONG {type(error).__name__}: {error}"
                print(f"{name:24} {question:10} {said}", flush=True)
    print(f"{wrong} of {len(CASES) * len(QUESTIONS)} answers are wrong")


if __name__ == "__main__":
    main()
