"""Inject faults into right programs and count those that both commands name: ``python -m tests.injected --seed N``.

With ``--torch`` the programs are PyTorch's, and torch is to be installed.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from . import effects, judging
from .kinds import KINDS, Kind
from .programs import Program, programs, programs_of_torch
from .text import Edit, Text, with_probes
from .torch_kinds import TORCH_KINDS

TRIES = 6
"""Changes that are tried for each case that counts, at most: many raise, and some change nothing."""

COMMANDS = ("bare", "check")

OF_GRADIENTS = ("cut", "partial", "zero")
"""Families that change what gradients come through: a change of data alone is no such fault."""


@cache
def _text(program: Program) -> Text:
    return Text(program.source)


class Changed(NamedTuple):
    """A program with a fault that has an effect.

    Attributes:
        path: where it stands.
        starved: whether a parameter is trained no longer.
    """

    path: Path
    starved: bool


class Bench:
    """Runs programs in a folder of its own.

    Args:
        folder: where the changed programs are written.
        framework: ``paddle`` or ``torch``.
    """

    def __init__(self, folder: Path, framework: str = "paddle") -> None:
        self._folder = folder
        self._framework = framework
        self._homes: dict[Path, Path] = {}
        self._plain: dict[str, dict[str, Any]] = {}
        self._taking: dict[str, set[tuple[int, int]]] = {}

    def write(self, name: str, source: str) -> Path:
        path = self._folder / f"{name}.py"
        path.write_text(source, encoding="utf-8")
        return path

    def home(self, program: Program) -> Path:
        """Return a copy of the folder that a program runs in, for what it writes there."""
        if program.folder not in self._homes:
            home = self._folder / f"home{len(self._homes)}"
            self._homes[program.folder] = Path(shutil.copytree(program.folder, home))
        return self._homes[program.folder]

    def plain(self, program: Program) -> dict[str, Any]:
        """Return what a right program trains, once."""
        if program.name not in self._plain:
            path = self.write(program.name.replace(".", "_"), program.source)
            self._plain[program.name] = judging.trained(path, self.home(program), self._framework)
        return self._plain[program.name]

    def _takes_gradients(self, program: Program) -> set[tuple[int, int]]:
        """Return the places of the values of a program that take gradients, once."""
        if program.name not in self._taking:
            source = with_probes(_text(program), "probe_of_a_fault")
            path = self.write(f"probe_{program.name.replace('.', '_')}", source)
            self._taking[program.name] = judging.takes_gradients(path, self.home(program), self._framework)
        return self._taking[program.name]

    def fits(self, program: Program, kind: Kind, edit: Edit) -> bool:
        """Return whether a fault of gradients is at a value that takes gradients in the right program."""
        if kind.family not in OF_GRADIENTS or edit.value is None:
            return True
        return edit.value in self._takes_gradients(program)

    def counts(self, program: Program, edit: Edit, effect: str = "training") -> Changed | None:
        """Return the changed program where it has the effect of its fault; else None.

        Args:
            effect: see :attr:`.kinds.Kind.effect`.
        """
        right = self.plain(program)
        if right.get("raised") or "died" in right:
            return None
        path = self.write(program.name.replace(".", "_"), _text(program).with_edit(edit))
        changed = judging.trained(path, self.home(program), self._framework)
        if "died" in changed or bool(changed.get("raised")) != (effect == "raises"):
            return None
        if effect != "raises" and effects.differ(right, changed) != (effect == "training"):
            return None
        return Changed(path, effects.starved(right, changed))


def cases(kind: Kind, among: Sequence[Program], seed: int) -> Iterator[tuple[Program, Edit]]:
    """Yield places for a kind in an order that the seed gives, first one of each program."""
    draw = random.Random(f"{seed} {kind.name}")
    sites = {p.name: (p, list(kind.sites(_text(p)))) for p in among}
    for _, edits in sites.values():
        draw.shuffle(edits)
    order = [p for p, edits in sites.values() if edits]
    draw.shuffle(order)
    for turn in range(9):
        for program in order:
            edits = sites[program.name][1]
            if turn < len(edits):
                yield program, edits[turn]


def cases_that_count(
    bench: Bench, kind: Kind, among: Sequence[Program], seed: int, count: int
) -> Iterator[tuple[Program, Edit, Changed]]:
    """Yield the cases of a kind that count, at most *count*."""
    tries = found = 0
    for program, edit in cases(kind, among, seed):
        if found >= count or tries >= count * TRIES:
            return
        if not bench.fits(program, kind, edit):
            continue
        tries += 1
        changed = bench.counts(program, edit, kind.effect)
        if changed is not None:
            found += 1
            yield program, edit, changed


def judged(kind: Kind, edit: Edit, told: list[dict[str, Any]] | dict[str, str], starved: bool = False) -> str:
    """Return ``named``, ``line`` (another cause at that line), ``elsewhere``, ``nothing`` or ``died``.

    Args:
        starved: whether a parameter is trained no longer, which a note does not say.
    """
    if isinstance(told, dict):
        return "died"
    lines = {edit.line, *edit.other}
    notes = () if starved else kind.notes
    counted = [f for f in told if f["severity"] != "note" or f["code"] in notes]
    at = [f for f in counted if kind.anywhere or not lines.isdisjoint(f["lines"])]
    if any(f["code"] in kind.accepts and re.search(kind.says, f["words"]) for f in at):
        return "named"
    return "line" if at else "elsewhere" if counted else "nothing"


def main() -> None:
    """Print a row for each kind, and false findings in the right programs where asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.injected", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--torch", action="store_true", help="programs of PyTorch")
    parser.add_argument("--count", type=int, default=6, help="cases of each kind")
    parser.add_argument("--kinds", default="", help="names, with commas; all of them without")
    parser.add_argument("--right", action="store_true", help="look for findings in the right programs as well")
    parser.add_argument("--only", choices=COMMANDS, help="one command")
    parser.add_argument("--log", type=Path, help="write every case there, a line of JSON each")
    parser.add_argument("--keep", type=Path, help="keep the changed programs in this folder")
    options = parser.parse_args()
    asked = [c for c in COMMANDS if options.only in (None, c)]
    if options.torch:
        import torch

        torch.set_num_threads(1)
    kinds = TORCH_KINDS if options.torch else KINDS
    chosen = [k for k in kinds if not options.kinds or k.name in options.kinds.split(",")]
    log = options.log.open("a", encoding="utf-8") if options.log else None
    with tempfile.TemporaryDirectory(prefix="injected-") as scratch:
        bench = Bench(Path(scratch).resolve(), "torch" if options.torch else "paddle")
        among = programs_of_torch() if options.torch else programs()
        totals: dict[str, list[int]] = {c: [0, 0] for c in asked}
        for kind in chosen:
            rows: dict[str, list[str]] = {c: [] for c in asked}
            for program, edit, changed in cases_that_count(bench, kind, among, options.seed, options.count):
                path = changed.path
                for command in asked:
                    told = getattr(judging, {"bare": "answered", "check": "checked"}[command])(
                        path, bench.home(program)
                    )
                    rows[command].append(judged(kind, edit, told, changed.starved))
                    if log is not None:
                        entry = {"kind": kind.name, "program": program.name, "line": edit.line, "command": command}
                        log.write(json.dumps({**entry, "judged": rows[command][-1], "said": told}) + "\n")
                        log.flush()
                    if options.keep and rows[command][-1] != "named":
                        options.keep.mkdir(exist_ok=True, parents=True)
                        (options.keep / f"{kind.name}.{program.name}.{edit.line}.py").write_text(path.read_text())
            print(_row(kind, rows), flush=True)
            for command in asked:
                totals[command][0] += rows[command].count("named")
                totals[command][1] += len(rows[command])
        for command, (named, total) in totals.items():
            print(f"{command}: cause and line of {named} of {total}")
        if options.right:
            _right(bench, among, asked, log)


def _row(kind: Kind, rows: dict[str, list[str]]) -> str:
    cells = []
    for command, told in rows.items():
        rest = ", ".join(f"{told.count(w)} {w}" for w in ("line", "elsewhere", "nothing", "died") if w in told)
        cells.append(f"{command} {told.count('named')} of {len(told)}" + (f" ({rest})" if rest else ""))
    return f"{kind.family:8} {kind.name:26} {' · '.join(cells)}"


def _right(bench: Bench, among: Sequence[Program], asked: Sequence[str], log: Any) -> None:
    for command in asked:
        wrong, running = [], [p for p in among if not bench.plain(p).get("raised") and "died" not in bench.plain(p)]
        for program in running:
            path = bench.write(program.name.replace(".", "_"), program.source)
            told = getattr(judging, {"bare": "answered", "check": "checked"}[command])(path, bench.home(program))
            if isinstance(told, dict) or any(f["severity"] != "note" for f in told):
                wrong.append((program.name, told))
                if log is not None:
                    log.write(json.dumps({"right": program.name, "command": command, "said": told}) + "\n")
        print(f"{command}: findings in {len(wrong)} of {len(running)} right programs")
        for name, told in wrong:
            print(f"  {name}: {told if isinstance(told, dict) else [(f['code'], f['lines'][:1]) for f in told]}")


if __name__ == "__main__":
    sys.exit(main())
