"""Runs of other frameworks' programs as files: what a recorder told, in the container of all of gradtool's files.

The file holds one array of bytes, in which equal values stand once, and JSON about it: the events in order, what the
program held when it was over, and the text of its source files. Nothing in it is code, and it is read where the
framework is not installed.
"""

from __future__ import annotations

import ctypes
import io
import linecache
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from ...core import source
from ...core.command_errors import ModelError
from ...core.errors import FileFormatError, GradtoolError, UnsupportedError
from ...core.spec import dtype as dtype_of
from ...eager.tape import FreedGraphError, InplaceError
from ...files import container, jsontext, schema
from ...files.writing import write_files
from ...script.calls import LocalNames, PassCalls, Stopped
from ...script.script_state import Loaded
from . import events
from .events import CallResult, GraphNode, NodeDifferentiated, Ref
from .frameworks import Framework, find_framework
from .heap import Rebuilder
from .player import Player

_BY_NAME: Mapping[str, Any] = {
    "Made": events.TensorMade,
    "Gone": events.Gone,
    "Writing": events.OverwriteBegan,
    "Called": events.OperatorCalled,
    "Adopted": events.Adopted,
    "Detached": events.Detached,
    "Left": events.ValuesTaken,
    "MemoryLent": events.MemoryLent,
    "GradientTaken": events.GradientTaken,
    "Requires": events.Requires,
    "Guarding": events.RecordingSwitched,
    "Guarded": events.RecordingRestored,
    "Began": events.BackwardBegan,
    "Ended": events.BackwardEnded,
    "Cleared": events.GradientCleared,
    "Listed": events.OptimizerMade,
    "Updating": events.UpdateBegan,
    "Updated": events.UpdateEnded,
    "Hooking": events.Hooking,
    "Hooked": events.HookCalled,
    "Replaced": events.ParametersReplaced,
    "Rebound": events.Rebound,
    "Unfilled": events.MissingGradientRead,
    "Freed": events.NodesFreed,
    "Switched": events.ModeSwitched,
    "Labelled": events.ModuleLabelled,
    "Awaited": events.ProcessesJoined,
    "Scaled": events.LossScaled,
    "Unscaled": events.GradientsUnscaled,
    "Limited": events.GradientsClipped,
    "Explored": events.Explored,
    "Uncompiled": events.Uncompiled,
    "CopyMade": events.CopyMade,
    "ValueReused": events.ValueReused,
    "Halted": events.Halted,
    "ScheduleMade": events.ScheduleMade,
    "ScheduleStepped": events.ScheduleStepped,
    "DataPassBegan": events.DataPassBegan,
}
"""Name in the file -> the event; these names are the format and do not follow those of the classes."""
_NAMES: Mapping[Any, str] = {kind: name for name, kind in _BY_NAME.items()}
_NUMBERED: Mapping[Any, int] = {events.TensorMade: 0, events.Detached: 1, events.GradientTaken: 1, events.Rebound: 0}
"""Where events with an array say which tensor has it."""
_SITES = frozenset(("site", "hook", "dropped"))
"""Fields that are places in the program."""
_SITE_OF_BEGAN = events.BackwardBegan._fields.index("site")
_INNER: Mapping[str, Any] = {"node": GraphNode, "result": CallResult, "pulled": NodeDifferentiated}


class RunWriter:
    """Writes events down; a sink for a recorder.

    Args:
        folder: source files below it are named from there.

    Attributes:
        framework: whose run it is; whoever records says it.
    """

    framework: Framework

    def __init__(self, folder: str) -> None:
        self._folder = os.path.join(os.path.realpath(folder), "")
        self._data = bytearray()
        self._places: dict[bytes, int] = {}
        self._spans: dict[int, tuple[int, int, int]] = {}
        self._sites: dict[Any, int] = {}
        self.frames: list[list[list[Any]]] = []
        self.events: list[list[Any]] = []
        self.sources: dict[str, str] = {}
        self.left: dict[str, Any] = {}
        self._arrays: dict[int, Any] = {}
        self._rebound = 0

    def __call__(self, event: events.Event) -> None:
        """Write one event down, with the values that there are now."""
        if isinstance(event, events.Gone):
            self._spans.pop(event.tensor, None)
            self._arrays.pop(event.tensor, None)
        fields = [self._field(event, name, value) for name, value in zip(event._fields, event, strict=True)]
        after = []
        if isinstance(event, events.OperatorCalled):
            after = [[n, self._array(self._arrays[n])] for n in event.written if n in self._arrays]
        self.events.append([_NAMES[type(event)], fields, *([after] if after else [])])

    def contents(self, left: Mapping[str, Any]) -> list[Any]:
        """The bytes of the file.

        Args:
            left: what the program held, see :mod:`.heap`.
        """
        texts = {
            "format": self.framework.form,
            "events": jsontext.write(self.events),
            "frames": jsontext.write(self.frames),
            "left": jsontext.write(left),
            "sources": jsontext.write(self.sources),
        }
        return list(container.pieces({"data": np.frombuffer(bytes(self._data), np.uint8)}, texts))

    def local_copy(self) -> RunWriter:
        """Return what writes the same run for this machine alone: by whole paths of files, without their texts."""
        whole = {name: os.path.join(self._folder, name) for name in self.sources}
        other = copy(self)
        other.frames = [[[whole.get(file, file), *rest] for file, *rest in frames] for frames in self.frames]
        other.sources = {}
        return other

    def _field(self, event: events.Event, name: str, value: Any) -> Any:
        if name in _SITES:
            return self._site(value)
        if name == "array" and isinstance(event, (events.TensorMade, events.Detached)):
            number = event.tensor if isinstance(event, events.TensorMade) else event.made
            of = event.shares if isinstance(event, events.TensorMade) else event.tensor
            return self._tensor(number, value, of)
        if name == "array" and isinstance(event, events.GradientTaken):
            return self._tensor(event.made, value, None)
        if name == "array" and isinstance(event, events.Rebound):
            self._rebound += 1  # views of the memory that it had go on with that
            return self._tensor(event.tensor, value, event.source, -self._rebound)
        if name == "results" and isinstance(event, events.OperatorCalled):
            of = next((int(v) for v in event.arguments if isinstance(v, Ref)), None) if event.view else None
            return [
                [r.tensor, None if r.array is None else self._tensor(r.tensor, r.array, of), r.output] for r in value
            ]
        return self._value(value)

    def _value(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return {"array": self._array(value)}
        if isinstance(value, Ref):
            return {"tensor": int(value)}
        for name, kind in _INNER.items():
            if isinstance(value, kind):
                inside = [
                    self._site(v) if n == "rule" else self._value(v) for n, v in zip(kind._fields, value, strict=True)
                ]
                return {name: inside}
        if isinstance(value, (list, tuple)):
            return [self._value(v) for v in value]
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": str(value)}
        return value

    def _site(self, where: Any) -> int:
        location = source.locate(where)
        if location not in self._sites:
            self._sites[location] = len(self.frames)
            self.frames.append(
                [[self._file(c), line, c.co_name, c.co_qualname, c.co_firstlineno] for c, line in location]
            )
        return self._sites[location]

    def _file(self, code: CodeType) -> str:
        path = os.path.realpath(code.co_filename)
        name = path.removeprefix(self._folder).replace(os.sep, "/")
        if path.startswith(self._folder) and name not in self.sources:
            self.sources[name] = "".join(linecache.getlines(code.co_filename))
        return name

    def _array(self, array: Any) -> list[Any]:
        plain = np.ascontiguousarray(array)
        return [self._bytes(plain.tobytes()), array.dtype.name, list(array.shape)]

    def _bytes(self, data: bytes) -> int:
        place = self._places.get(data)
        if place is None:
            place = self._places[data] = len(self._data)
            self._data += data
        return place

    def _tensor(self, number: int, array: Any, shares: int | None, own: int | None = None) -> list[Any]:
        """A tensor in its storage: that of another one, or its own, which is called *own*, or as the tensor is."""
        storage = number if own is None else own
        low, high = np.lib.array_utils.byte_bounds(array)
        self._arrays[number] = array
        first = array.__array_interface__["data"][0]
        span = self._spans.get(shares) if shares is not None else None
        about = [array.dtype.name, list(array.shape), list(array.strides)]
        if span is not None and span[1] <= low and high <= span[2]:
            self._spans[number] = span
            return [span[0], first - span[1], *about]
        self._spans[number] = storage, low, high
        data = ctypes.string_at(low, high - low) if array.size else b""
        return [storage, first - low, *about, self._bytes(data), len(data)]


_writer: ContextVar[RunWriter | None] = ContextVar("gradtool_recorded_writer", default=None)

writing = _writer.get
"""The writer of the run that is being recorded, or None."""


@contextmanager
def write_run(folder: str) -> Iterator[RunWriter]:
    """Write the run of a program down that is recorded inside.

    Args:
        folder: where the program lies.
    """
    writer = RunWriter(folder)
    _writer.set(writer)
    try:
        yield writer
    finally:
        _writer.set(None)


@contextmanager
def record_into(path: str, folder: str) -> Iterator[None]:
    """Write the run of the program that is loaded inside into a file; *folder* is where the program lies."""
    with write_run(folder) as writer:
        yield
    write(path, writer, writer.left)


def write(path: str, writer: RunWriter, left: Mapping[str, Any]) -> None:
    """Write a run into a file, whole or not at all."""
    write_files({path: b"".join(bytes(p) for p in writer.contents(left))})


def _tensors_in(described: Any) -> Iterator[int]:
    """Return the numbers of the tensors that a description names."""
    todo = [described]
    while todo:
        each = todo.pop()
        if isinstance(each, dict):
            if isinstance(each.get("tensor"), int):
                yield each["tensor"]
            todo += each.values()
        elif isinstance(each, list):
            todo += each


class RecordedRun:
    """A run in a file.

    Raises:
        FileFormatError: it is none.
    """

    def __init__(self, path: Path, data: bytes) -> None:
        self._name = path.name
        arrays, texts = container.read_stream(io.BytesIO(data), path.name)
        framework = find_framework(texts.get("format"))
        if framework is None or "data" not in arrays:
            raise FileFormatError(self._name, "a recorded run", "another container")
        self._framework = framework
        self._data = arrays["data"].tobytes()
        parts = {n: schema.read(texts.get(n, ""), f"{n} of {self._name}", shape) for n, shape in _PARTS.items()}
        self._events, self._left = parts["events"], parts["left"]
        self._storages: dict[int, bytearray] = {}
        self._arrays: dict[int, Any] = {}
        self._codes: dict[tuple[str, str, str, int], CodeType] = {}
        try:
            self._folder = os.path.realpath(path.parent)
            self._sites = [self._location(frames) for frames in parts["frames"]]
            for name, text in parts["sources"].items():
                self._remember(name, text)
        except _MALFORMED as error:
            raise self._format_error(error) from None

    def play(self, loaded: Loaded) -> None:
        """Play it, and leave behind what the program did.

        Raises:
            FileFormatError: the file is damaged.
            Stopped: there have been enough backward passes.
            GradtoolError, ModelError: what the program raised.
        """
        player = Player(self._framework, apart=True)
        player.counterparts.pinned = frozenset(_tensors_in(self._left.get("scopes")))
        failed: GradtoolError | None = None
        for entry in self._select_events(loaded.calls):
            try:
                self._play(player, entry)
            except FileFormatError:
                raise
            except (FreedGraphError, InplaceError) as error:
                failed = error  # the program may have gone on
            except Stopped:
                self._leave(loaded, player)
                raise
            except UnsupportedError as error:
                raise ModelError(f"{self._name} cannot be answered about: {error}", []) from error
            except _MALFORMED as error:
                raise self._format_error(error) from error
        self._leave(loaded, player)
        raised = self._left.get("raised")
        if raised is not None:
            raise failed or ModelError(raised["message"], raised["frames"])

    def _select_events(self, calls: PassCalls) -> Iterator[Sequence[Any]]:
        """Yield the events, but for the pass that the program asked for where it was stopped.

        Runs recorded before there was an event of that name end with such a pass, or are taken for whole.
        """
        begun = self._find_unfinished_pass()
        for number, entry in enumerate(self._events):
            if entry[0] != _NAMES[events.Halted] and number != begun:
                yield entry
                continue
            try:
                site, seconds = (entry[1][_SITE_OF_BEGAN], None) if number == begun else entry[1]
                calls.stopped, calls.is_cut = self._sites[site], True
                calls.patience = None if seconds is None else float(seconds)
            except _MALFORMED as error:
                raise self._format_error(error) from error

    def _find_unfinished_pass(self) -> int | None:
        """Return the place of the pass that began last, where it has no end and the program raised nothing."""
        if self._left.get("raised") is not None:
            return None
        for number in range(len(self._events) - 1, -1, -1):
            name = self._events[number][0]
            if name in (_NAMES[events.BackwardBegan], _NAMES[events.BackwardEnded]):
                return number if name == _NAMES[events.BackwardBegan] else None
        return None

    def _play(self, player: Player, entry: Sequence[Any]) -> None:
        kind = _BY_NAME[entry[0]]
        names = kind._fields
        number = entry[1][_NUMBERED[kind]] if kind in _NUMBERED else None
        event = kind(*[self._field(n, v, number) for n, v in zip(names, entry[1], strict=False)])
        for number, array in entry[2] if len(entry) > 2 else ():
            held = self._arrays.get(number)
            if held is not None:
                np.copyto(held, self._array(array))
        player(event)
        if isinstance(event, events.Gone):
            self._arrays.pop(event.tensor, None)

    def _leave(self, loaded: Loaded, player: Player) -> None:
        try:
            rebuilder = Rebuilder(self._left["objects"], player.tensors, self._framework.package)
            loaded.namespace.update(rebuilder.names(self._left["names"]))
            file = os.path.join(self._folder, self._left["file"])
            loaded.namespace["__file__"] = file
            result = self._left.get("result")
            loaded.result = None if result is None else rebuilder.value(result)
            loaded.function = self._left.get("function")
            for call in loaded.calls.every:
                scopes = self._left["scopes"].get(str(call.number), [])
                values = [(function, rebuilder.names(names)) for function, names in scopes]
                call.names = [LocalNames(f, v, source.stand_in_code(file, f)) for f, v in values]
                found = (n for _, scope in reversed(values) for n, v in scope.items() if v is call.loss)
                call.python = next(found, "") if call.loss is not None else ""
        except _MALFORMED as error:
            raise self._format_error(error) from error

    def _field(self, name: str, value: Any, number: int | None) -> Any:
        if name in _SITES:
            return self._sites[value]
        if name == "array":
            return self._tensor(value, number)
        if name == "results":
            return tuple([CallResult(n, None if a is None else self._tensor(a, n), o) for n, a, o in value])
        return self._value(value)

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return tuple([self._value(v) for v in value])
        if not isinstance(value, dict):
            return value
        ((kind, inside),) = value.items()
        if kind == "array":
            return self._array(inside)
        if kind == "tensor":
            return Ref(inside)
        if kind == "float":
            return float(inside)
        fields = zip(_INNER[kind]._fields, inside, strict=True)
        return _INNER[kind](*[self._sites[v] if n == "rule" else self._value(v) for n, v in fields])

    def _array(self, entry: Sequence[Any]) -> Any:
        place, kind, shape = entry
        dtype = dtype_of(kind).numpy
        count = math.prod(shape)
        if place < 0 or min(shape, default=0) < 0 or place + count * dtype.itemsize > len(self._data):
            raise ValueError("values outside of the file")
        return np.frombuffer(self._data, dtype, count, place).reshape(shape).copy()

    def _tensor(self, entry: Sequence[Any], number: int | None = None) -> Any:
        storage, offset, kind, shape, strides, *own = entry
        if own:
            place, size = own
            if min(place, size) < 0 or place + size > len(self._data):
                raise ValueError("values outside of the file")
            self._storages[storage] = bytearray(self._data[place : place + size])
        dtype = dtype_of(kind).numpy
        _must_lie_within(shape, strides, offset, dtype.itemsize, len(self._storages[storage]))
        array = np.ndarray(shape, dtype, self._storages[storage], offset, strides)
        self._arrays[storage if number is None else number] = array
        return array

    def _location(self, frames: Sequence[Sequence[Any]]) -> source.Location:
        return tuple([(self._code(file, name, whole, first), int(line)) for file, line, name, whole, first in frames])

    def _code(self, file: str, name: str, whole: str, first: int) -> CodeType:
        key = file, name, whole, first
        if key not in self._codes:
            path = os.path.join(self._folder, file)
            code = source.stand_in_code("", "").replace(co_filename=path, co_name=name, co_qualname=whole)
            # Code is equal where its text is, whatever the file: the constants part those of two files.
            self._codes[key] = code.replace(co_firstlineno=first, co_consts=(path, first))
        return self._codes[key]

    def _remember(self, file: str, text: str) -> None:
        """Have messages quote the lines that ran, whatever has become of the file."""
        path = os.path.join(self._folder, file)
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)

    def _format_error(self, error: Exception) -> FileFormatError:
        return FileFormatError(self._name, "the events of a run", f"damaged ones ({type(error).__name__})")


def _must_lie_within(shape: Sequence[int], strides: Sequence[int], offset: int, itemsize: int, size: int) -> None:
    """Raise ValueError for an array that reaches out of its storage, or has more elements than any memory.

    NumPy checks the first where its numbers are large enough for it, and the second never: elements that lie on one
    another take no storage.
    """
    if len(shape) != len(strides) or min(shape, default=0) < 0 or math.prod(shape) * itemsize > _MOST_BYTES:
        raise ValueError("an array of sizes that cannot be")
    steps = [(n - 1) * step for n, step in zip(shape, strides, strict=True)] if 0 not in shape else []
    first, last = sum(min(step, 0) for step in steps), sum(max(step, 0) for step in steps)
    if offset + first < 0 or offset + last + (itemsize if 0 not in shape else 0) > size:
        raise ValueError("values outside of the storage")


_MOST_BYTES = 2**36


def _is_event(value: Any) -> bool:
    if not isinstance(value, list) or len(value) not in (2, 3) or not isinstance(value[0], str):
        return False
    return value[0] in _BY_NAME and all(isinstance(part, list) for part in value[1:])


_FRAME = (str, int, str, str, int)
"""File, line, name, whole name and first line."""

_PARTS: Mapping[str, schema.Shape] = {
    "events": schema.ListSchema(schema.ValueSchema("the name of an event and its fields", _is_event)),
    "frames": schema.ListSchema(
        schema.ListSchema(
            schema.ValueSchema(
                "a file, a line, a name, a whole name and a first line",
                lambda v: isinstance(v, list) and tuple(map(type, v)) == _FRAME,
            )
        )
    ),
    "left": schema.TableSchema(
        {
            "file": schema.TEXT,
            "objects": schema.ListSchema(schema.ANYTHING),
            "names": schema.TableSchema(others=schema.ANYTHING),
            "scopes": schema.TableSchema(others=schema.ListSchema(schema.ANYTHING)),
            "raised": schema.or_null(
                schema.TableSchema({"message": schema.TEXT, "frames": schema.ListSchema(schema.TEXT)})
            ),
            "function": schema.or_null(schema.TEXT),
            "result": schema.ANYTHING,
        }
    ),
    "sources": schema.TableSchema(others=schema.TEXT),
}
"""What stands in each part."""

_MALFORMED = (KeyError, IndexError, TypeError, ValueError, AttributeError, AssertionError, OverflowError, MemoryError)
