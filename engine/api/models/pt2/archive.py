"""What a PT2 archive holds: a program as JSON, and the bytes of its weights and constants. Nothing in it is run.

An archive is a zip file with one folder: ``models/NAME.json`` is the program, ``data/weights/weight_0`` the elements of
a tensor, and ``data/weights/NAME_weights_config.json`` says which parameter they are, in which shape.
"""

from __future__ import annotations

import io
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.core.spec import dtype
from gradtool.engine.files import jsontext
from gradtool.engine.files.jsontext import shown

from ..zipped import DEFLATED, MOST_INFLATED, Archive, Member

EXPECTED: Final = "an archive of torch.export"

_KINDS: Final = {
    1: "uint8",
    2: "int8",
    3: "int16",
    4: "int32",
    5: "int64",
    6: "float16",
    7: "float32",
    8: "float64",
    10: "complex64",
    11: "complex128",
    12: "bool",
    13: "bfloat16",
}
"""Numbers of element types in the schema -> names of gradtool's."""
_OTHERS: Final = {
    9: "complex32",
    28: "uint16",
    29: "float8_e4m3fn",
    30: "float8_e5m2",
    31: "float8_e4m3fnuz",
    32: "float8_e5m2fnuz",
    33: "float8_e8m0fnu",
    34: "uint32",
    35: "uint64",
}

OLDEST: Final = 8
NEWEST: Final = 8
"""Versions of the schema, by their first number, that are read."""

_OLD_PROGRAM: Final = "serialized_exported_program.json"
_AGAIN: Final = "torch.export.save(torch.export.load(FILE), FILE) in a newer torch writes it anew"

_MOST_AXES: Final = 32
_MOST_ELEMENTS: Final = 1 << 31
_MOST_REPEATED: Final = 1 << 24
"""Elements of a tensor that has more of them than bytes are stored: what is expanded."""


class Archived(NamedTuple):
    """What is in an archive.

    Attributes:
        program: the JSON of the exported program.
        values: arrays by the names of parameters, buffers and constants.
        empty: names of those whose elements were not saved.
    """

    program: dict[str, Any]
    values: dict[str, np.ndarray[Any, Any]]
    empty: list[str]


def kind_name(number: Any) -> str | None:
    """The name of an element type by its number; None where gradtool has none of that kind."""
    return _KINDS.get(number) if isinstance(number, int) else None


def kind_told(number: Any) -> str:
    """The same, for messages about those that gradtool has not."""
    return kind_name(number) or (_OTHERS.get(number) if isinstance(number, int) else None) or f"number {shown(number)}"


def read(data: bytes, file: str) -> Archived:
    """What *data*, a PT2 archive, holds.

    Args:
        file: its name, for messages.

    Raises:
        FileFormatError: it is none, or one that cannot be (a ValueError).
    """
    return _Reader(data, file).read()


class _Reader:
    def __init__(self, data: bytes, file: str) -> None:
        self.file = file
        self.zip = Archive(io.BytesIO(data), len(data), self.fail, "torch.export.save compresses nothing")
        self.members: dict[str, tuple[Member, int]] = {}
        self.order = "<"

    def fail(self, came: str, hint: str | None = None) -> NoReturn:
        raise FileFormatError(self.file, EXPECTED, came, hint=hint)

    def read(self) -> Archived:
        self.list_members()
        name = self.model_name()
        program = self.json(f"models/{name}.json")
        if not isinstance(program, dict):
            self.fail("its program is no object")
        self.check_version(program.get("schema_version"))
        self.order = ">" if self.text("byteorder", "little") == "big" else "<"
        values: dict[str, np.ndarray[Any, Any]] = {}
        empty: list[str] = []
        for folder, config in (("weights", f"{name}_weights_config"), ("constants", f"{name}_constants_config")):
            self.take(f"data/{folder}", config, values, empty)
        return Archived(program, values, empty)

    # -- the zip file -------------------------------------------------------------------------------------------------

    def list_members(self) -> None:
        members = list(self.zip.members())
        if sum(m.size for m in members if m.method == DEFLATED) > MOST_INFLATED:
            self.fail(f"more than {MOST_INFLATED} bytes are compressed in it")
        if any(m.name.rpartition("/")[2] == _OLD_PROGRAM for m in members):
            self.fail("it is of the old form, whose weights are pickles", _AGAIN)
        for member, place in zip(members, self.zip.places(members), strict=True):
            _, _, name = member.name.partition("/")
            if name in self.members:
                self.fail(f"it holds {shown(name)} twice")
            self.members[name] = member, place

    def model_name(self) -> str:
        """The name of the program in the archive."""
        names = [
            n[len("models/") : -len(".json")] for n in self.members if n.startswith("models/") and n[-5:] == ".json"
        ]
        if len(names) == 1 or "model" in names:
            return names[0] if len(names) == 1 else "model"
        if names:
            self.fail(f"it holds {len(names)} programs: {', '.join(map(shown, names[:8]))}", "save one in a file")
        if any(n.startswith("data/aotinductor/") for n in self.members):
            self.fail("it holds compiled code and no graph", "torch.export.save writes the graph")
        self.fail("it holds no program (models/NAME.json)", "torch.export.save writes such archives")

    def text(self, name: str, default: str) -> str:
        return self.held(name).decode("utf-8", "replace").strip() if name in self.members else default

    def held(self, name: str) -> bytes:
        if name not in self.members:
            self.fail(f"{name} is missing")
        return self.zip.contents(*self.members[name])

    def json(self, name: str) -> Any:
        return jsontext.read(self.held(name), f"{self.file}, {name}")

    def check_version(self, told: Any) -> None:
        major = told.get("major") if isinstance(told, dict) else None
        if not isinstance(major, int) or not OLDEST <= major <= NEWEST:
            span = f"version {OLDEST}" if OLDEST == NEWEST else f"versions {OLDEST} to {NEWEST}"
            self.fail(f"it says version {shown(major)} of the schema", f"gradtool reads {span}")

    # -- weights ------------------------------------------------------------------------------------------------------

    def take(self, folder: str, config: str, values: dict[str, np.ndarray[Any, Any]], empty: list[str]) -> None:
        """Put the tensors that a folder of the archive holds into *values*."""
        name = f"{folder}/{config}.json"
        if f"{folder}/{config.rpartition('_')[0].rpartition('_')[0]}.pt" in self.members:
            self.fail("its weights are a pickle, which could run anything", _AGAIN)
        entries = self.json(name) if name in self.members else {"config": {}}
        listed = entries.get("config") if isinstance(entries, dict) else None
        if not isinstance(listed, dict):
            self.fail(f"{name} lists nothing")
        payloads: dict[str, bytes] = {}
        for tensor, entry in listed.items():
            if not isinstance(entry, dict) or not isinstance(entry.get("path_name"), str):
                self.fail(f"{name} does not say where {shown(tensor)} lies")
            if entry.get("use_pickle"):
                self.fail(
                    f"{shown(tensor)} is kept as a pickle, which could run anything",
                    "tensors of a class of their own are: gradtool takes the script that makes the model",
                )
            path = f"{folder}/{entry['path_name']}"
            if path not in payloads:
                payloads[path] = self.held(path)
            array = self.array(tensor, entry.get("tensor_meta"), payloads[path])
            if array is None:
                empty.append(tensor)
            else:
                values[tensor] = array

    def array(self, name: str, meta: Any, payload: bytes) -> np.ndarray[Any, Any] | None:
        """The elements of a tensor that lies in *payload*; None where none were saved."""
        sizes, strides, offset, kind = self.layout(name, meta)
        elements = np.dtype(dtype(kind).numpy)
        if elements.itemsize > 1 and self.order == ">":
            elements = elements.newbyteorder(">")
        count = 1
        for size in sizes:
            count *= size
        if not payload and count:
            return None
        if len(payload) % elements.itemsize:
            self.fail(f"the bytes of {shown(name)} are no {kind}")
        flat = np.frombuffer(payload, elements)
        reach = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True)) if count else -1
        if reach >= len(flat) or count > (_MOST_ELEMENTS if count <= len(flat) else _MOST_REPEATED):
            self.fail(f"{shown(name)} of shape {sizes[:8]} reaches behind its {len(payload)} bytes")
        steps = [stride * elements.itemsize for stride in strides]
        view = np.lib.stride_tricks.as_strided(flat[offset:] if count else flat[:0], sizes, steps, writeable=False)
        array = np.ascontiguousarray(view).reshape(sizes)
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))

    def layout(self, name: str, meta: Any) -> tuple[list[int], list[int], int, str]:
        """Sizes, steps, first element and element type of a stored tensor."""
        if not isinstance(meta, dict):
            self.fail(f"the shape of {shown(name)} is not said")
        kind = kind_name(meta.get("dtype"))
        if kind is None:
            self.fail(f"{shown(name)} is of the element type {kind_told(meta.get('dtype'))}, which gradtool has not")
        sizes, strides = (_whole_numbers(meta.get(key)) for key in ("sizes", "strides"))
        offset = _whole_numbers([meta.get("storage_offset")])
        if sizes is None or strides is None or offset is None or len(sizes) != len(strides) or len(sizes) > _MOST_AXES:
            self.fail(f"the shape of {shown(name)} is {shown(meta.get('sizes'))}")
        return sizes, strides, offset[0], kind


def _whole_numbers(entries: Any) -> list[int] | None:
    """Numbers that are known, from 0 on; None for anything else."""
    if not isinstance(entries, list):
        return None
    numbers = [entry.get("as_int") if isinstance(entry, dict) else None for entry in entries]
    fits = all(type(n) is int and 0 <= n < 1 << 62 for n in numbers)
    return [n for n in numbers if n is not None] if fits else None
