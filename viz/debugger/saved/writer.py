"""Sessions as files: lines of JSON that hold what replaying needs, so that the model need not run again.

The first line says which form it is; each of the others is an object of one ``kind``.

===========  ==========================================================================================================
``run``      what the run was: its parts, its gradients, what it ended in, and on which kind of machine
``sources``  lines of the user's files, and the stacks that point into them
``program``  of a static model, the program, which is lowered again when the session is loaded
``value``    one version of a tensor; with its array where nothing in the file can compute it
``op``       one operator: what it reads and makes, and of dynamic mode what its kernel follows from
``session``  where the session began: cursor and stops; which branch it is in, what is in its names
``branch``   a branch with its cursor and its edits
``cell``     a cell, and where it was typed
``end``      how many lines there are
===========  ==========================================================================================================

Kernels are bound anew from the registry. What is the user's own Python (a PyLayer, a hook) is not in the file; its
results are. ``cli/schemas/session.json`` describes the lines, ``reader.py`` reads them.
"""

from __future__ import annotations

import linecache
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.core.source import Location
from gradtool.engine.core.streams import Position
from gradtool.engine.files import jsontext
from gradtool.engine.ir.to_json import to_json
from gradtool.engine.runs.bound_kernels import USERS, USERS_FUNCTION, runs_again
from gradtool.engine.runs.branch import Branch
from gradtool.engine.runs.timeline import NOBODY, Entry, FixedOperand, Timeline

from ..errors import VerbError
from ..notebook import Notebook, current_state
from ..stops import Stop
from .json_values import NoData, pack

FORMAT = "gradtool/session/1"
WHOLE_FILE = 5000
"""Files of so many lines are kept whole; of longer ones the lines around operators."""
AROUND = 100


def text(book: Notebook) -> str:
    """The session as the text of a file; the same text for the same session, every time.

    Raises:
        VerbError: it holds what a file cannot hold.
    """
    lines = [{"schema": FORMAT}, *_lines(book)]
    lines.append({"kind": "end", "lines": len(lines) + 1})
    return "".join(jsontext.write(line) + "\n" for line in lines)


def machine() -> str:
    """The kind of machine this is. On the same kind, the same operators give the same bits."""
    features = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    return f"{platform.system()} {platform.machine()}, numpy {np.__version__}, {' '.join(features)}"


def _lines(book: Notebook) -> Iterator[dict[str, Any]]:
    session = book.session
    timeline = session.timeline
    sources = _Sources()
    ops = [_op(e, sources, timeline.recalled.get(e.index, {})) for e in timeline.entries]
    program = _program(timeline, sources)
    yield _run(book, timeline)
    yield sources.line()
    if program is not None:
        yield program
    stored = set(_values_to_store(timeline))
    base = Branch(timeline)
    for number, value in enumerate(timeline.values):
        line: dict[str, Any] = {"kind": "value", "name": value.name, "maker": value.maker, "slot": value.slot}
        line |= {"role": value.role, "parts": value.parts, "names": list(value.names)}
        if number in stored:
            line["array"] = _pack(_value_of(base, number), value.name)
        yield line
    yield from ops
    yield from _session(book)
    for cell in book.cells:
        branch, cursor = book.places.get(cell.number, ("base", 0))
        yield {"kind": "cell", **asdict(cell), "branch": branch, "cursor": cursor}


def _value_of(base: Branch, number: int) -> Any:
    try:
        return base.make(number)
    except Exception as error:
        name = base.timeline.values[number].name
        raise VerbError(f"the session cannot be saved: {name} cannot be computed: {error}") from None


def _pack(value: Any, what: str) -> Any:
    try:
        return pack(value)
    except NoData as error:
        raise VerbError(f"the session cannot be saved: {what}: {error.message}") from None


def _run(book: Notebook, timeline: Timeline) -> dict[str, Any]:
    failed = timeline.failed
    return {
        "kind": "run",
        "title": timeline.title,
        "model": book.model,
        "opening": book.opening,
        "mode": timeline.mode,
        "begin": timeline.begin,
        "loss": timeline.loss,
        "results": [[name, number] for name, number in timeline.results.items()],
        "failed": None if failed is None else [failed[0], type(failed[1]).__name__, *_message_lines(failed[1])],
        "budget": timeline.store.budget,
        "machine": machine(),
    }


def _message_lines(error: BaseException) -> list[str]:
    return [str(error), *getattr(error, "__notes__", ())]


# -- operators --------------------------------------------------------------------------------------------------------


def _op(entry: Entry, sources: _Sources, recalled: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    line: dict[str, Any] = {
        "kind": "op",
        "name": entry.name,
        "type": entry.type,
        "part": entry.part,
        "stack": sources.stack(entry.loc),
        "layer": entry.layer,
        "pair": entry.pair,
        "operands": [_operand(o, entry) for o in entry.operands],
        "reads": [[slot, n] for slot, n in entry.reads],
        "outs": [[slot, n] for slot, n in entry.outs],
        "sums": list(entry.sums),
        "fixed": entry.fixed or ("" if runs_again(entry) else USERS),
    }
    if recalled:
        line["recalled"] = [[key, [_pack(a, entry.name) for a in made]] for key, made in sorted(recalled.items())]
    if entry.drawn is not None:
        line["drawn"] = _generator(entry.drawn)
    if entry.binding is not None and runs_again(entry):
        b = entry.binding
        line["kernel"] = {
            "type": b.op.type,
            "attrs": _pack(dict(b.attrs), entry.name),
            "sizes": list(b.sizes),
            "wanted": None if b.wanted is None else [list(w) for w in b.wanted],
            "mask": b.mask,
            "padded": b.padded,
        }
    return line


def _operand(operand: Any, entry: Entry) -> Any:
    if isinstance(operand, list):
        return [_operand(o, entry) for o in operand]
    if isinstance(operand, FixedOperand):
        return {"given": _pack(operand.value, entry.name)}
    return operand


def _generator(drawn: Position) -> dict[str, Any]:
    """Return the position of the stream of random numbers; a seed may have more digits than JSON's readers keep."""
    return {"generator": "Philox", "seed": str(drawn.seed), "counter": drawn.counter}


def _values_to_store(timeline: Timeline) -> Iterator[int]:
    """The values that nothing in the file can compute, as far as they are known."""
    store = timeline.store
    there = {n for n, v in enumerate(timeline.values) if v.maker == NOBODY and n in store}
    yield from sorted(there)
    end = timeline.failed[0] if timeline.failed is not None else len(timeline.entries)
    for entry in timeline.entries[:end]:
        outs = [n for _, n in entry.outs if n >= 0]
        if entry.binding is not None and entry.binding.mask in store:
            yield entry.binding.mask
        if entry.kernel is None or not there.issuperset(entry.inputs):
            outs = [n for n in outs if n in store]
            yield from outs
        elif not runs_again(entry):
            yield from outs
        there.update(outs)
        for total in entry.sums:
            if there.issuperset(timeline.values[total].parts or (NOBODY,)):
                there.add(total)
            elif total in store:
                there.add(total)
                yield total


def _program(timeline: Timeline, sources: _Sources) -> dict[str, Any] | None:
    lowered = timeline.lowered
    if lowered is None:
        return None
    if lowered.program.version != lowered.version:
        raise VerbError(
            "the program was changed after it was recorded, so the session cannot be saved.",
            hint="begin a new session on the changed program",
        )
    for block in lowered.program.blocks:
        for v in block.vars.values():
            sources.stack(v.loc)
        for op in block.ops:
            sources.stack(op.loc)
            if op.type == USERS_FUNCTION and block.idx:
                raise VerbError(f"py_func inside a block calls the user's own Python, which a file cannot hold: {op}.")
    try:
        data = jsontext.read(to_json(lowered.program), "the program")
    except GradtoolError as error:
        raise VerbError(f"the program cannot be saved: {error.message}") from None
    return {"kind": "program", "program": data, "fed": list(lowered.fed), "fetched": list(lowered.fetched)}


# -- source -----------------------------------------------------------------------------------------------------------


class _Sources:
    """The user's files, as far as operators point into them."""

    def __init__(self) -> None:
        self._files: dict[str, int] = {}
        self._stacks: dict[tuple[tuple[int, int, str], ...], int] = {}
        self._near: dict[str, set[int]] = {}
        self._far: dict[str, set[int]] = {}

    def stack(self, location: Location) -> int | None:
        """The number of the stack, or None where nothing is known."""
        if not location:
            return None
        for i, (code, line) in enumerate(location):
            (self._far if i else self._near).setdefault(code.co_filename, set()).add(line)
        key = tuple(
            (self._files.setdefault(code.co_filename, len(self._files)), line, code.co_name) for code, line in location
        )
        return self._stacks.setdefault(key, len(self._stacks))

    def line(self) -> dict[str, Any]:
        files = [{"name": _last_part(file), "lines": self._lines(file)} for file in self._files]
        return {"kind": "sources", "files": files, "stacks": [[list(f) for f in s] for s in self._stacks]}

    def _lines(self, file: str) -> list[list[Any]]:
        """Numbered lines: all where operators were made, or those around; of other files those of the stacks."""
        text = linecache.getlines(file)
        near = self._near.get(file, set())
        if near and len(text) <= WHOLE_FILE:
            wanted: Iterable[int] = range(1, len(text) + 1)
        else:
            wanted = sorted(
                {n for at in near for n in range(at - AROUND, at + AROUND + 1)} | self._far.get(file, set())
            )
        return [[n, text[n - 1].rstrip("\n")] for n in wanted if 1 <= n <= len(text) and text[n - 1]]


def _last_part(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]


# -- the session ------------------------------------------------------------------------------------------------------


def _session(book: Notebook) -> Iterator[dict[str, Any]]:
    session = book.session
    began = book.began or current_state(session)
    names, lost = {}, []
    for name, value in session.names.items():
        if name in ("In", "Out", "_") or name.startswith("__"):
            continue
        try:
            names[name] = pack(value)
        except NoData:
            lost.append(name)
    outputs = []
    for number, value in book.outputs.items():
        try:
            outputs.append([number, pack(value)])
        except NoData:
            continue  # the cell's text stays
    yield {
        "kind": "session",
        "began": {"cursor": began.cursor, "arrived": began.arrived, "stops": [_stop(s) for s in began.stops]},
        "stops": [_stop(s) for s in session.stops],
        "arrived": session.arrived,
        "numbered": session.numbered,
        "start": session.start,
        "branch": session.branch.name,
        "names": names,
        "lost": lost,
        "outputs": outputs,
    }
    for branch in session.branches.values():
        edits = [
            {"at": e.at, "number": e.number, "array": _pack(e.array, e.text), "text": e.text, "dropped": e.dropped}
            for e in branch.edits
        ]
        line = {"kind": "branch", "name": branch.name, "cursor": branch.cursor, "edits": edits}
        yield line | {"stale": branch.stale()}


def _stop(stop: Stop) -> dict[str, Any]:
    return {
        "number": stop.number,
        "kind": stop.kind,
        "text": stop.text,
        "condition": stop.condition,
        "once": stop.once,
        "enabled": stop.enabled,
        "hits": stop.hits,
    }
