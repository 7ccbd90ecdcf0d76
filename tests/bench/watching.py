"""Twelve ordinary trainings under gradtool, bare and ``check``, beside the scripts alone.

Those of PyTorch need torch where this runs, and are skipped elsewhere. Each program runs alone, bare and under
``check`` in turn, as whole processes on one thread; reported are medians of CPU seconds, and their ratios to the script
alone::

    python -m tests.bench watching --runs 5 --results docs/measured/watching.json
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent / "trainings"
ALONE = """\
import runpy, sys
from gradtool.paddle import _alias
with _alias.active():
    runpy.run_path(sys.argv[1], run_name="__main__")
"""
"""Runs a script of Paddle on the engine, with nobody watching."""

ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Threads that wait for each other take CPU time, too: on a busy machine as much as the work."""


def commands(script: Path) -> dict[str, list[str]]:
    """The command lines to compare, by name."""
    python, file = sys.executable, str(script)
    alone = [python, file] if script.name.startswith("torch_") else [python, "-c", ALONE, file]
    return {
        "alone": alone,
        "bare": [python, "-m", "gradtool", "--steps", "all", file],
        "check": [python, "-m", "gradtool", "check", "--no-cache", "--steps", "all", file],
    }


def measure(command: list[str]) -> tuple[float, float]:
    """CPU seconds of one run on one thread, and its largest resident set in MiB."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ONE_THREAD)
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compare(script: Path, runs: int) -> dict[str, dict[str, float]]:
    """Medians of seconds and MiB by command; the commands take turns."""
    lines = commands(script)
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in lines}
    for _ in range(runs):
        for name, command in lines.items():
            seen[name].append(measure(command))
    return {
        name: {
            "seconds": round(statistics.median(s for s, _ in pairs), 3),
            "mebibytes": round(statistics.median(m for _, m in pairs), 1),
        }
        for name, pairs in seen.items()
    }


def main() -> None:
    """Compare all programs and print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="programs whose names contain this")
    parser.add_argument("--results", type=Path, help="write the medians as JSON")
    options = parser.parse_args()
    has_torch = importlib.util.find_spec("torch") is not None
    results: dict[str, dict[str, dict[str, float]]] = {}
    columns = ("alone s", "bare s", "times", "check s", "times", "alone MiB", "bare", "check")
    print(f"{'program':<22}" + "".join(f"{c:>10}" for c in columns))
    for script in sorted(HERE.glob("*.py")):
        if options.only not in script.stem or (script.name.startswith("torch_") and not has_torch):
            continue
        told = results[script.stem] = compare(script, options.runs)
        alone, bare, check = (told[name]["seconds"] for name in told)
        sizes = [told[name]["mebibytes"] for name in told]
        times = (alone, bare, bare / alone, check, check / alone)
        cells = [*(f"{t:>10.2f}" for t in times), *(f"{m:>10.0f}" for m in sizes)]
        print(f"{script.stem:<22}" + "".join(cells), flush=True)
    if options.results is not None:
        options.results.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
