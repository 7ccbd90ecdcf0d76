"""Train public models plainly and under two commands: ``python -m tests.torch.public [NAME …]``.

A name may be the beginning of one, such as ``timm.``. Models whose packages are not installed are left out. A row says
of each command whether the script printed, computed and wrote what a plain run does, how many parameters the table of
gradients has, what the command finds wrong (these models are right), and how many times the CPU and the memory of the
plain run it took, without imports. Needs torch.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.torch.trainings import COMMANDS, findings
from tests.transparent.running import PLAIN, Outcome, Runner, compare
from tests.transparent.staging import Script

from .models import public_models
from .scripts import PublicModel


def select_models(names: Iterable[str]) -> list[PublicModel]:
    """Return the models whose packages are installed and whose names begin as one of *names*, or all."""
    starts = tuple(names)
    return [m for m in public_models() if (not starts or m.name.startswith(starts)) and _is_installed(m)]


def _is_installed(model: PublicModel) -> bool:
    return all(importlib.util.find_spec(m.partition(".")[0]) is not None for m in model.modules)


def table_size(outcome: Outcome) -> str:
    """Return what an answer says of its table: ``62 of 62``; empty where it has none."""
    counted = re.search(r"^(\d+ of \d+) \w+ gets? a gradient", outcome.stdout, re.MULTILINE)
    return counted[1] if counted else ""


def main() -> int:
    """Print a row for each model and a last line for each command; the exit code is 1 where anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.torch.public", description=__doc__)
    parser.add_argument("--only", choices=COMMANDS, help="one command")
    parser.add_argument("--write", type=Path, help="write the scripts into this folder instead")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    commands = [c for c in COMMANDS if options.only in (None, c)]
    models = select_models(options.names)
    if options.write:
        for model in models:
            write(model, options.write)
        return 0
    os.environ["TRANSPARENT_IMPORTS"] = " ".join(dict.fromkeys(m for model in models for m in model.modules))
    wrong, ran = dict.fromkeys(commands, 0), 0
    with Runner() as runner, tempfile.TemporaryDirectory() as folder:
        for model in models:
            path = write(model, Path(folder))
            script = Script(path.name, "torch", path)
            plain = runner.run(script, PLAIN)
            if plain.code != 0:
                print(f"{model.name:48} plain      exit code {plain.code}: {plain.stderr[-150:]!r}", flush=True)
                continue
            ran += 1
            cells, lines = [f"plain {plain.seconds:.2f} s"], []
            for command in commands:
                asked = runner.run(script, command)
                told = compare(plain, asked) + findings(asked)
                told += [f"exit code {asked.code}"] if asked.code and not told else []
                told += ["no table"] if command == "bare" and not table_size(asked) else []
                wrong[command] += bool(told)
                lines += [f"  {command:9} {line}" for line in told]
                times = f"CPU {asked.seconds / plain.seconds:.1f}, memory {asked.memory / plain.memory:.1f} times"
                cells.append(" ".join(filter(None, (command, table_size(asked), f"({times})"))))
            print(f"{model.name:48} {' · '.join(cells)}", *lines, sep="\n", flush=True)
    for command in commands:
        print(f"{command}: {wrong[command]} of {ran} differ or have findings")
    return int(any(wrong.values()))


def write(model: PublicModel, folder: Path) -> Path:
    """Write the script of a model; return where it stands."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{re.sub(r'[^A-Za-z0-9]+', '_', model.name)}.py"
    path.write_text(model.text, encoding="utf-8")
    return path


if __name__ == "__main__":
    raise SystemExit(main())
