"""Saved sessions, read back: the run as it was, the notebook over it, and nothing of the model.

What is read is data: operators are looked up in the registry, and no name in the file is called, imported or opened.
The model that it names is not loaded. Expressions in it (watches, conditions of breakpoints, Python and verbs in cells)
are evaluated only when the session goes on or is run again, and only if whoever loads it says that the file is trusted.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import linecache
import re
from typing import Any

from gradtool.engine.core import source
from gradtool.engine.core.errors import FixedError, GradtoolError
from gradtool.engine.core.source import NOWHERE, Location
from gradtool.engine.core.streams import Position
from gradtool.engine.executor.lower import lower
from gradtool.engine.files import jsontext
from gradtool.engine.files.jsontext import shorten_value
from gradtool.engine.ir.assemble import definition
from gradtool.engine.ir.from_json import from_json
from gradtool.engine.kernels.choice import current
from gradtool.engine.runs import of_program
from gradtool.engine.runs.bound_kernels import USERS, USERS_FUNCTION, Binding, kernel, recall_or_compute
from gradtool.engine.runs.branch import Branch, Edit
from gradtool.engine.runs.first_run import fill, redraw
from gradtool.engine.runs.store import Store
from gradtool.engine.runs.timeline import NOBODY, Entry, FixedOperand, Lowered, Timeline, Value

from .. import stops
from ..cell import Cell
from ..errors import VerbError
from ..notebook import Beginning, Notebook
from ..session import Session
from ..stops import Stop
from .json_values import unpack
from .lines import BEGAN, EDIT, KERNEL, MOST, NO_ARRAY, STOP, SessionLines, is_numbered

_SEED = re.compile("-?[0-9]{1,40}")


class RecordedError(GradtoolError):
    """Error that the run ended in when it was recorded; its text is that of the error."""

    code = "GT-E604"


class SavedSession:
    """A session that was saved.

    Attributes:
        book: the notebook, ready to go on.
        machine: the kind of machine that it was saved on.
        lost: names of the session that hold what no file can hold.
    """

    def __init__(self, book: Notebook, machine: str, lost: list[str]) -> None:
        self.book = book
        self.machine = machine
        self.lost = lost


def load(data: bytes | str, file: str, *, trust: bool = False) -> SavedSession:
    """The session in a file.

    Args:
        file: what the file is called in errors.
        trust: whether expressions in the file may be evaluated, which can do whatever Python can. Without, stops with
            expressions are disabled, and cells of the file that evaluate one or write files are refused; all that was
            recorded is there, and what is typed runs.

    Raises:
        FileFormatError: it is no saved session, or a damaged one.
    """
    saved = _Reader(data, file).saved()
    book = saved.book
    book.session.trusted = trust
    book.foreign = frozenset(c.number for c in book.cells)
    for stop in book.session.stops:
        stop.enabled = stop.enabled and (trust or not stop.expression)
    return saved


class _Reader(SessionLines):
    def __init__(self, data: bytes | str, file: str) -> None:
        super().__init__(data, file)
        whole = data.encode("utf-8", "replace") if isinstance(data, str) else data
        self.digest = hashlib.sha256(whole).hexdigest()[:12]

    # -- the run --------------------------------------------------------------------------------------------------

    def saved(self) -> SavedSession:
        self.stacks = self._stacks()
        self.count = len(self.lines["value"])
        self.recalled: dict[int, dict[str, Any]] = {}
        values = [self._value(line) for line in self.each("value")]
        entries = [self._entry(i, line) for i, line in enumerate(self.each("op"))]
        run = self.the("run")
        timeline = self._timeline(run, values, entries)
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # an operator that prints has printed
                fill(timeline)
        except FixedError as error:
            self.fail("results that fit their operators", error.message)
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, AssertionError) as error:
            self.fail("values that fit their operators", f"they do not ({type(error).__name__}: {error})")
        if timeline.failed is not None and run["failed"] is None:
            self.fail("operators that run", str(timeline.failed[1]).split("\n")[0])
        book = self._notebook(run, timeline)
        return SavedSession(book, run["machine"], self.the("session")["lost"])

    def _stacks(self) -> list[Location]:
        told = self.the("sources")
        codes: dict[tuple[int, str], Any] = {}
        self.files: dict[str, str] = {}
        names = []
        for i, entry in enumerate(told["files"]):
            match entry:
                case {"name": str(name), "lines": list(lines)} if all(is_numbered(line) for line in lines):
                    pass
                case _:
                    self.fail("a file with name and numbered lines", f"it is {shorten_value(entry)}")
            if not name.isprintable() or set("/\\") & set(name):
                self.fail("the last part of a file's name", f"it is {shorten_value(name)}")
            names.append(f"{self.digest}/{i}/{name}")
            cached = source.stand_in_code(names[i], "").co_filename
            self.files.setdefault(name, names[i])
            texts = [""] * max((n for n, _ in lines), default=0)
            for n, text in lines:
                texts[n - 1] = text + "\n"
            linecache.cache[cached] = (0, None, texts, cached)
        stacks = []
        for stack in told["stacks"]:
            location = []
            for frame in stack if isinstance(stack, list) else [stack]:
                match frame:
                    case [int(file), int(line), str(function)] if 0 <= file < len(names) and 0 <= line < MOST:
                        code = codes.get((file, function))
                        if code is None:
                            code = codes[file, function] = source.stand_in_code(names[file], function)
                        location.append((code, line))
                    case _:
                        self.fail("a frame: file, line and function", f"it is {shorten_value(frame)}")
            stacks.append(tuple(location))
        return stacks

    def _value(self, line: dict[str, Any]) -> tuple[Value, Any]:
        parts = line["parts"]
        if parts is not None and not (len(parts) == 2 and all(map(self._is_number, parts))):
            self.fail("two numbers of values", f"there is {shorten_value(parts)}")
        value = Value(line["name"], line["maker"], line["slot"], line["role"], None, tuple(line["names"]))
        value.parts = (parts[0], parts[1]) if parts is not None else None
        return value, unpack(line["array"], self.fail) if line["array"] is not NO_ARRAY else NO_ARRAY

    def _is_number(self, value: Any) -> bool:
        return type(value) is int and 0 <= value < self.count

    def _entry(self, index: int, line: dict[str, Any]) -> Entry:
        entry = Entry(index, line["name"], line["type"], line["part"], layer=line["layer"], fixed=line["fixed"])
        if line["stack"] is not None:
            if line["stack"] >= len(self.stacks):
                self.fail(f"one of {len(self.stacks)} stacks", f"it is {line['stack']}")
            entry.loc = self.stacks[line["stack"]]
        if not -1 <= line["pair"] < len(self.lines["op"]):
            self.fail("the number of an operator", f"its pair is {line['pair']}")
        entry.pair = line["pair"]
        entry.operands = [self._operand(o, 0) for o in line["operands"]]
        entry.reads = [self._slot(pair, 0) for pair in line["reads"]]
        entry.outs = [self._slot(pair, NOBODY) for pair in line["outs"]]
        if not all(map(self._is_number, line["sums"])):
            self.fail("numbers of values", f"there is {shorten_value(line['sums'])}")
        entry.sums = line["sums"]
        entry.drawn = self._generator(line["drawn"]) if line["drawn"] is not None else None
        if line["kernel"] is not None:
            entry.binding = self._read_binding(line["kernel"], entry)
        elif line["recalled"]:
            ran = {}
            for pair in line["recalled"]:
                match pair:
                    case [str(key), list(results)] if len(results) == len(entry.outs):
                        ran[key] = [unpack(r, self.fail) for r in results]
                    case _:
                        self.fail("operands and as many results as there are", f"it is {shorten_value(pair)}")
            self.recalled[index] = ran
            entry.kernel = recall_or_compute(entry, ran)
        return entry

    def _operand(self, told: Any, depth: int) -> Any:
        if told is None or self._is_number(told):
            return told
        if isinstance(told, list) and depth < 2:
            return [self._operand(o, depth + 1) for o in told]
        if isinstance(told, dict) and told.keys() == {"given"}:
            return FixedOperand(unpack(told["given"], self.fail))
        self.fail("an operand", f"it is {shorten_value(told)}")

    def _slot(self, told: Any, least: int) -> tuple[str, int]:
        match told:
            case [str(slot), int(number)] if least <= number < self.count:
                return slot, number
        self.fail("a slot and the number of a value", f"it is {shorten_value(told)}")

    def _generator(self, told: dict[str, Any]) -> Position:
        match told:
            case {"generator": "Philox", "seed": str(seed), "counter": int(counter)}:
                if _SEED.fullmatch(seed) and 0 <= counter < 2**64 and len(told) == 3:
                    return Position(int(seed), counter)
        self.fail("where the stream of random numbers was (Philox)", f"it is {shorten_value(told)}")

    def _read_binding(self, told: dict[str, Any], entry: Entry) -> Binding:
        told = jsontext.take(told, KERNEL, self.fail)
        try:
            op = definition(told["type"])
        except GradtoolError as error:
            self.fail("an operator", error.message.removesuffix("."))
        attrs = unpack(told["attrs"], self.fail)
        if not isinstance(attrs, dict):
            self.fail("attributes by name", f"it is {shorten_value(attrs)}")
        if told["mask"] != NOBODY and not self._is_number(told["mask"]):
            self.fail("the number of a value", f"it is {told['mask']}")
        wanted = None if told["wanted"] is None else tuple(tuple(w) for w in told["wanted"])
        if wanted is not None and op.grad_op is None:
            self.fail("an operator with a gradient", f"it is {op.type}")
        return Binding(op, attrs, tuple(told["sizes"]), wanted, told["mask"], told["padded"])

    def _timeline(self, run: dict[str, Any], read: list[tuple[Value, Any]], entries: list[Entry]) -> Timeline:
        store = Store(run["budget"])
        for number, (_, array) in enumerate(read):
            if array is not NO_ARRAY:
                store.keep(number, array)
        values = [value for value, _ in read]
        self._check_order(values, entries)
        results: dict[str, int | None] = {}
        for pair in run["results"]:
            match pair:
                case [str(name), None]:
                    results[name] = None
                case [str(name), int(number)] if 0 <= number < self.count:
                    results[name] = number
                case _:
                    self.fail("a name and the number of a value", f"it is {shorten_value(pair)}")
        if not 0 <= run["begin"] <= len(entries) or (run["loss"] is not None and not self._is_number(run["loss"])):
            self.fail("a run with a beginning and a loss", "they do not exist")
        lowered = self._bind(entries, store)
        self.the("run")
        timeline = Timeline(run["title"], run["mode"], entries, values, store, results, run["begin"], run["loss"])
        timeline.lowered = lowered
        timeline.recalled = self.recalled
        match run["failed"]:
            case None:
                pass
            case [int(index), str(_), str(text), *notes] if 0 <= index <= len(entries):
                error = RecordedError(text)
                for said in notes:
                    error.add_note(str(said))
                timeline.failed = index, error
            case _:
                self.fail("the operator that failed, and how", f"it is {shorten_value(run['failed'])}")
        return timeline

    def _check_order(self, values: list[Value], entries: list[Entry]) -> None:
        """Check that every value is made once, before it is read."""
        there = {n for n, v in enumerate(values) if v.maker == NOBODY}
        for entry in entries:
            missing = next((n for n in entry.inputs if n not in there), None)
            if missing is not None:
                self.fail("values that are made before they are read", f"{entry.name} reads {values[missing].name!r}")
            results = [*(n for _, n in entry.outs if n >= 0), *entry.sums]
            there.update(n for _, n in entry.outs if n >= 0)
            for total in entry.sums:
                parts = values[total].parts
                if parts is None or not there.issuperset(parts):
                    self.fail("sums of values that are there", f"{entry.name} sums up others")
                there.add(total)
            if any(values[n].maker != entry.index for n in results):
                self.fail("values that know what makes them", f"those of {entry.name} do not")

    def _bind(self, entries: list[Entry], store: Store) -> Lowered | None:
        """Give every entry its kernel."""
        lowered = None
        if self.lines["program"]:
            lowered = self._lower(entries)
        else:
            for entry in entries:
                if entry.binding is not None:
                    mask = store.get(entry.binding.mask) if entry.binding.mask != NOBODY else None
                    try:
                        entry.kernel = kernel(entry.binding, mask)
                    except (LookupError, TypeError, ValueError, AttributeError, AssertionError, GradtoolError) as error:
                        self.fail(f"attributes of {entry.type}", f"they do not fit ({type(error).__name__}: {error})")
        for entry in entries:
            if entry.drawn is not None and entry.kernel is not None:
                entry.kernel = redraw(entry.kernel, entry.drawn)
            if entry.kernel is None or entry.index in self.recalled:
                entry.fixed = entry.fixed or USERS
        return lowered

    def _lower(self, entries: list[Entry]) -> Lowered:
        line = self.the("program")
        program = from_json(jsontext.write(line["program"]), self.where)
        for block in program.blocks:
            for op in block.ops:
                op.loc = self._relocate(op.loc)
            for v in block.vars.values():
                v.loc = self._relocate(v.loc)
        try:
            plan = lower(program, line["fed"], line["fetched"], current(), {"prune"})
        except GradtoolError as error:
            self.fail("a program that runs", error.message.removesuffix("."))
        pairs = list(of_program.visible_instructions(plan))
        if len(pairs) != len(entries):
            self.fail(f"the {len(entries)} operators of the run", f"the program has {len(pairs)}")
        for entry, (instruction, op) in zip(entries, pairs, strict=True):
            same = entry.type == op.type and list(instruction.ins) == list(entry.operands)
            outs = [n for _, n in of_program.results_of(instruction, op)]
            if not same or outs != [n for _, n in entry.outs]:
                self.fail(f"{entry.name} as it was recorded", "the program says otherwise")
            entry.origin, entry.region = op, bool(op.sub_blocks)
            if entry.type != USERS_FUNCTION:
                entry.kernel = of_program.spread(instruction)
        return Lowered(program, program.version, tuple(line["fed"]), tuple(line["fetched"]))

    def _relocate(self, location: Location) -> Location:
        """A location of the program's own, where the lines of the file are known."""
        lines = []
        for (file, line, function), (code, _) in zip(source.frames(location), location, strict=True):
            lines.append((source.stand_in_code(self.files[file], function) if file in self.files else code, line))
        return tuple(lines) or NOWHERE

    # -- the notebook -----------------------------------------------------------------------------------------------

    def _notebook(self, run: dict[str, Any], timeline: Timeline) -> Notebook:
        session = Session(timeline)
        told = self.the("session")
        began = jsontext.take(told["began"], BEGAN, self.fail)
        first = [self._stop(session, s) for s in began["stops"]]
        session.stops = [self._stop(session, s) for s in told["stops"]]
        session.numbered = told["numbered"]
        self._check_cursor(timeline, told["start"])
        session.start = told["start"]
        session.arrived = told["arrived"]
        session.names = {name: unpack(value, self.fail) for name, value in told["names"].items()}
        outputs: dict[int, Any] = {}
        for pair in told["outputs"]:
            match pair:
                case [int(number), value]:
                    outputs[number] = unpack(value, self.fail)
                case _:
                    self.fail("a number and a value", f"it is {shorten_value(pair)}")
        session.branches = {}
        for line in self.each("branch"):
            edits = [self._edit(timeline, e) for e in line["edits"]]
            self._check_cursor(timeline, line["cursor"])
            branch = Branch.add_edits(timeline, line["name"], line["cursor"], edits)
            self._run_again(branch, line)
            session.branches[line["name"]] = branch
        if told["branch"] not in session.branches:
            self.fail("a branch", f"there is no {shorten_value(told['branch'])}")
        session.branch = session.branches[told["branch"]]
        self._check_cursor(timeline, began["cursor"])
        book = Notebook(session, run["model"])
        book.opening = run["opening"]
        book.began = Beginning(began["cursor"], began["arrived"], tuple(first))
        for line in self.each("cell"):
            at = {name: line.pop(name) for name in ("branch", "cursor")}
            cell = Cell(**line)
            if cell.number in book.inputs:
                self.fail("cells with numbers of their own", f"{cell.number} stands twice")
            book.cells.append(cell)
            book.inputs[cell.number] = cell.source
            if at["branch"] in session.branches and 0 <= at["cursor"] <= len(timeline.entries):
                book.places[cell.number] = at["branch"], at["cursor"]
            if not cell.note and not cell.failed and (cell.text or cell.number in outputs):
                book.outputs[cell.number] = outputs.get(cell.number, cell.text)
        return book

    def _run_again(self, branch: Branch, line: dict[str, Any]) -> None:
        """Compute what depends on edits and had run in that branch."""
        stale = set(line["stale"])
        for i in branch.entries_after_edits():
            if i not in stale:
                try:
                    branch.run(branch.timeline.entries[i])
                except Exception as error:
                    self.fail("edits that operators can take", f"{branch.timeline.entries[i].name}: {error}")
        branch.recomputed = 0

    def _check_cursor(self, timeline: Timeline, cursor: int) -> None:
        if not 0 <= cursor <= len(timeline.entries):
            self.fail(f"a cursor between 0 and {len(timeline.entries)}", f"it is {cursor}")

    def _edit(self, timeline: Timeline, told: Any) -> Edit:
        edit = jsontext.take(told, EDIT, self.fail)
        if not NOBODY <= edit["number"] < self.count or not NOBODY <= edit["dropped"] < len(timeline.entries):
            self.fail("an edit of a value or an operator", f"it is {shorten_value(told)}")
        return Edit(edit["at"], edit["number"], unpack(edit["array"], self.fail), edit["text"], edit["dropped"])

    def _stop(self, session: Session, told: Any) -> Stop:
        fields = jsontext.take(told, STOP, self.fail)
        stop = Stop(**fields, foreign=True)
        try:
            if stop.kind == "break":
                stop.matches, _ = stops.breakpoint_at(session, stop.text)
            elif stop.kind == "catch":
                _, stop.limit = stops.catch(stop.text)
        except VerbError as error:
            self.fail(f"a {stop.kind} that can be set", error.message.removesuffix("."))
        return stop
