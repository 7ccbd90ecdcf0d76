"""Run whole training scripts plainly and under two commands: ``python -m tests.torch.trainings [NAME …]``.

The scripts of ``training/`` are right, and written after public ones. A row says of each command whether the exit code
and what the script printed, computed and wrote are equal to a plain run's, what the command finds wrong (nothing is),
and CPU seconds without imports. Needs torch.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from tests.transparent.running import PLAIN, Outcome, Runner, compare
from tests.transparent.staging import ROOT, Script

FOLDER = Path(__file__).parent / "training"
COMMANDS = ("bare", "check")


def scripts() -> list[Path]:
    """Return the training scripts, sorted by name."""
    return sorted(FOLDER.glob("*.py"))


_NOTE = re.compile(r"^ *\d+ +note +GT\d{3} | · note: ")
"""A finding that is a note, as the bare command and as ``check`` write it."""


def findings(outcome: Outcome) -> list[str]:
    """Return the lines of an answer that call something wrong: findings that are no notes, and errors."""
    said = re.findall(r"^ *(?:error: .*|(?:\d+ +\w+ +)?GT\d{3} .*)$", outcome.stdout + outcome.stderr, re.MULTILINE)
    return [line.strip() for line in said if not _NOTE.search(line)]


def main() -> int:
    """Print a row for each script and a last line; the exit code is 1 where anything differs or is found."""
    parser = argparse.ArgumentParser(prog="python -m tests.torch.trainings", description=__doc__)
    parser.add_argument("--only", choices=COMMANDS, help="one command")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    commands = [c for c in COMMANDS if options.only in (None, c)]
    chosen = [p for p in scripts() if not options.names or p.stem in options.names]
    wrong = dict.fromkeys(commands, 0)
    seconds = dict.fromkeys([PLAIN, *commands], 0.0)
    with Runner() as runner:
        for path in chosen:
            script = Script(str(path.relative_to(ROOT)), "torch", path)
            plain = runner.run(script, PLAIN)
            seconds[PLAIN] += plain.seconds
            lines = [] if plain.code == 0 else [f"  plain      exit code {plain.code}: {plain.stderr[-150:]!r}"]
            cells = [f"plain {plain.seconds:.2f} s"]
            for command in commands:
                asked = runner.run(script, command)
                seconds[command] += asked.seconds
                told = compare(plain, asked) + findings(asked)
                told += [f"exit code {asked.code}"] if asked.code and not told else []
                wrong[command] += bool(told)
                lines += [f"  {command:9} {line}" for line in told]
                cells.append(f"{command} {asked.seconds:.2f} s ({asked.seconds / plain.seconds:.1f} times)")
            print(f"{path.stem:24} {' · '.join(cells)}", *lines, sep="\n", flush=True)
    for command in commands:
        times = seconds[command] / seconds[PLAIN] if seconds[PLAIN] else 0.0
        print(f"{command}: {wrong[command]} of {len(chosen)} differ or have findings, {times:.2f} times the CPU")
    return int(any(wrong.values()))


if __name__ == "__main__":
    raise SystemExit(main())
