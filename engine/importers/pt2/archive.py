"""Contents of a PT2 archive: a program as JSON, and the bytes of its weights and constants. Nothing in it is run.

An archive is a zip file with one folder: ``models/NAME.json`` is the program, ``data/weights/weight_0`` the elements of
a tensor, and ``data/weights/NAME_weights_config.json`` says which parameter they are, in which shape. In the place of
these, torch 2.8 has a file of ``torch.save``, and before it the archive is another one (:data:`_OLD_PROGRAM`).
"""

from __future__ import annotations

import io
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from ...core.errors import FileFormatError
from ...files import jsontext, torch_tensors
from ...files.jsontext import shorten_value
from ...files.torch_tensors import Elements
from ...files.zip_members import DEFLATED, MOST_INFLATED, Member, ZipArchive
from .versions import NEWEST, OLDEST, modern, own_name

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

_OLD_PROGRAM: Final = "serialized_exported_program.json"
_OLD_VALUES: Final = "serialized_state_dict", "serialized_constants"
"""Members of archives before torch 2.8, which have no folder; the second ones are called ``.json`` in those of 2.1
and 2.2, and are files of ``torch.save`` all the same."""


class Archived(NamedTuple):
    """Contents of an archive.

    Attributes:
        program: the JSON of the exported program.
        values: arrays by the names of parameters, buffers and constants.
        empty: names of those whose elements were not saved.
        trains: parameters of which the archive says besides the program whether they want gradients.
    """

    program: dict[str, Any]
    values: dict[str, np.ndarray[Any, Any]]
    empty: list[str]
    trains: dict[str, bool]


def kind_name(number: Any) -> str | None:
    """The name of an element type by its number; None where gradtool has none of that kind."""
    return _KINDS.get(number) if isinstance(number, int) else None


def kind_told(number: Any) -> str:
    """The same, for messages about those that gradtool has not."""
    return (
        kind_name(number)
        or (_OTHERS.get(number) if isinstance(number, int) else None)
        or f"number {shorten_value(number)}"
    )


def read(data: bytes, file: str) -> Archived:
    """Return the contents of *data*, a PT2 archive.

    Args:
        file: its name, for messages.

    Raises:
        FileFormatError: it is none, or one that cannot be (a ValueError).
    """
    return _Reader(data, file).read()


class _Reader:
    def __init__(self, data: bytes, file: str) -> None:
        self.file = file
        self.zip = ZipArchive(io.BytesIO(data), len(data), self.fail, "torch.export.save compresses nothing")
        self.size = len(data)
        self.members: dict[str, tuple[Member, int]] = {}
        self.archived = Archived({}, {}, [], {})

    def fail(self, came: str, hint: str | None = None) -> NoReturn:
        raise FileFormatError(self.file, EXPECTED, came, hint=hint)

    def read(self) -> Archived:
        self.list_members()
        name = "" if _OLD_PROGRAM in self.members else self.model_name()
        told = self.json(f"models/{name}.json" if name else _OLD_PROGRAM)
        if not isinstance(told, dict):
            self.fail("its program is no object")
        program = modern(told, self.version(told.get("schema_version")), self.constant, self.fail)
        self.archived = self.archived._replace(program=program)
        order = ">" if self.text("byteorder", "little") == "big" else "<"
        self.elements = Elements(order, self.size, self.fail)
        if not name:
            for stem in _OLD_VALUES:
                self.take_saved(next((m for m in (f"{stem}.pt", f"{stem}.json") if m in self.members), ""))
            return self.archived
        for folder in ("weights", "constants"):
            saved = f"data/{folder}/{name}.pt"
            if saved in self.members:
                self.take_saved(saved)
            else:
                self.take(f"data/{folder}", f"{name}_{folder}_config")
        return self.archived

    # -- the zip file -------------------------------------------------------------------------------------------------

    def list_members(self) -> None:
        members = list(self.zip.members())
        if sum(m.size for m in members if m.method == DEFLATED) > MOST_INFLATED:
            self.fail(f"more than {MOST_INFLATED} bytes are compressed in it")
        has_folder = not any(m.name == _OLD_PROGRAM for m in members)
        for member, place in zip(members, self.zip.places(members), strict=True):
            name = member.name.partition("/")[2] if has_folder else member.name
            if name in self.members:
                self.fail(f"it holds {shorten_value(name)} twice")
            self.members[name] = member, place

    def model_name(self) -> str:
        """The name of the program in the archive."""
        names = [
            n[len("models/") : -len(".json")] for n in self.members if n.startswith("models/") and n[-5:] == ".json"
        ]
        if len(names) == 1 or "model" in names:
            return names[0] if len(names) == 1 else "model"
        if names:
            self.fail(
                f"it holds {len(names)} programs: {', '.join(map(shorten_value, names[:8]))}", "save one in a file"
            )
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
        return jsontext.read(self.held(name), f"{self.file}, {name}", are_finite=name != _OLD_PROGRAM)

    def version(self, told: Any) -> int:
        """The first number of the schema's version, which is all of it in archives before torch 2.3."""
        major = told.get("major") if isinstance(told, dict) else told
        if type(major) is not int or not OLDEST <= major <= NEWEST:
            self.fail(
                f"it says version {shorten_value(major)} of the schema", f"gradtool reads versions {OLDEST} to {NEWEST}"
            )
        return major

    # -- weights ------------------------------------------------------------------------------------------------------

    def take_saved(self, name: str) -> None:
        """Put the tensors that a file of ``torch.save`` in the archive holds into the values; ``""`` for none."""
        content = torch_tensors.read(self.held(name), f"{self.file}, {name}") if name else {}
        if not isinstance(content, dict):
            self.fail(f"{name} lists nothing")
        for key, value in content.items():
            if not isinstance(key, str) or not isinstance(value, torch_tensors.TorchTensor):
                self.fail(f"{shorten_value(key)} in {name} is no tensor")
            tensor = own_name(key)
            self.archived.values[tensor] = value.array
            if value.trains is not None:
                self.archived.trains[tensor] = value.trains

    def take(self, folder: str, config: str) -> None:
        """Put the tensors that a folder of the archive holds into the values."""
        name = f"{folder}/{config}.json"
        entries = self.json(name) if name in self.members else {"config": {}}
        listed = entries.get("config") if isinstance(entries, dict) else None
        if not isinstance(listed, dict):
            self.fail(f"{name} lists nothing")
        payloads: dict[str, bytes] = {}
        for tensor, entry in listed.items():
            if not isinstance(entry, dict) or not isinstance(entry.get("path_name"), str):
                self.fail(f"{name} does not say where {shorten_value(tensor)} lies")
            path = f"{folder}/{entry['path_name']}"
            if path not in payloads:
                payloads[path] = self.held(path)
            if entry.get("use_pickle"):
                self.take_one(tensor, path, payloads[path])
                continue
            sizes, strides, offset, kind = self.layout(tensor, entry.get("tensor_meta"))
            if not payloads[path] and 0 not in sizes:
                self.archived.empty.append(tensor)
            else:
                layout = sizes, strides, offset
                self.archived.values[tensor] = self.elements.array(tensor, payloads[path], kind, layout)

    def constant(self, name: str, payload: bytes) -> dict[str, Any]:
        """Put a constant that stands in the program, a file of ``torch.save``, into the values; say what it is."""
        self.take_one(name, name, payload)
        array = self.archived.values[name]
        number = next(n for n, kind in _KINDS.items() if kind == array.dtype.name)
        return {"dtype": number, "sizes": [{"as_int": d} for d in array.shape], "requires_grad": False}

    def take_one(self, tensor: str, path: str, payload: bytes) -> None:
        """Put a tensor that is a file of ``torch.save`` of its own, into the values."""
        value = torch_tensors.read(payload, f"{self.file}, {path}")
        if not isinstance(value, torch_tensors.TorchTensor):
            self.fail(f"{shorten_value(tensor)} in {path} is no tensor")
        self.archived.values[tensor] = value.array

    def layout(self, name: str, meta: Any) -> tuple[list[int], list[int], int, str]:
        """Sizes, steps, first element and element type of a stored tensor."""
        if not isinstance(meta, dict):
            self.fail(f"the shape of {shorten_value(name)} is not said")
        kind = kind_name(meta.get("dtype"))
        if kind is None:
            self.fail(
                f"{shorten_value(name)} is of the element type {kind_told(meta.get('dtype'))}, which gradtool has not"
            )
        sizes, strides = (_whole_numbers(meta.get(key)) for key in ("sizes", "strides"))
        offset = _whole_numbers([meta.get("storage_offset")])
        if sizes is None or strides is None or offset is None or len(sizes) != len(strides):
            self.fail(f"the shape of {shorten_value(name)} is {shorten_value(meta.get('sizes'))}")
        return sizes, strides, offset[0], kind


def _whole_numbers(entries: Any) -> list[int] | None:
    """Numbers that are known, from 0 on; None for anything else."""
    if not isinstance(entries, list):
        return None
    numbers = [entry.get("as_int") if isinstance(entry, dict) else None for entry in entries]
    fits = all(type(n) is int and 0 <= n < 1 << 62 for n in numbers)
    return [n for n in numbers if n is not None] if fits else None
