"""The protobuf messages that Paddle's programs and tensors are written in, from the numbers of their fields.

The numbers are the wire format. Of a message's fields only those stand here that are read or written; what else a file
holds is passed over, as protobuf does. No field is required: whoever reads looks at what is there. Enumerations are
whole numbers.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from ..core.errors import FileFormatError, UnsupportedError

_MESSAGES: Final[dict[str, dict[str, tuple[int, str]]]] = {
    "Program": {"blocks": (1, "*Block"), "version": (4, "Version"), "op_versions": (5, "OpVersions")},
    "Version": {"version": (1, "int64")},
    "OpVersions": {"pairs": (1, "*OpVersion")},
    "OpVersion": {"op": (1, "bytes"), "version": (2, "OpVersionNumber")},
    "OpVersionNumber": {"version": (1, "int32")},
    "Block": {
        "idx": (1, "int32"),
        "parent_idx": (2, "int32"),
        "vars": (3, "*Var"),
        "ops": (4, "*Op"),
        "forward_block_idx": (5, "int32"),
    },
    "Op": {
        "inputs": (1, "*Arguments"),
        "outputs": (2, "*Arguments"),
        "type": (3, "bytes"),
        "attrs": (4, "*Attr"),
        "is_target": (5, "bool"),
    },
    "Arguments": {"parameter": (1, "bytes"), "arguments": (2, "*bytes")},
    "Attr": {
        "name": (1, "bytes"),
        "type": (2, "int32"),
        "i": (3, "int32"),
        "f": (4, "float"),
        "s": (5, "bytes"),
        "ints": (6, "*int32"),
        "floats": (7, "*float"),
        "strings": (8, "*bytes"),
        "b": (10, "bool"),
        "bools": (11, "*bool"),
        "block_idx": (12, "int32"),
        "l": (13, "int64"),
        "blocks_idx": (14, "*int32"),
        "longs": (15, "*int64"),
        "float64s": (16, "*double"),
        "var_name": (17, "bytes"),
        "vars_name": (18, "*bytes"),
        "float64": (19, "double"),
        "scalar": (20, "Scalar"),
        "scalars": (21, "*Scalar"),
    },
    "Scalar": {"type": (1, "int32"), "b": (2, "bool"), "i": (3, "int64"), "r": (4, "double"), "c": (5, "Complex")},
    "Complex": {"r": (1, "double"), "i": (2, "double")},
    "Var": {
        "name": (1, "bytes"),
        "type": (2, "VarType"),
        "persistable": (3, "bool"),
        "need_check_feed": (4, "bool"),
        "is_parameter": (5, "bool"),
        "stop_gradient": (6, "bool"),
    },
    "VarType": {
        "type": (1, "int32"),
        "selected_rows": (2, "Tensor"),
        "dense": (3, "LodTensor"),
        "array": (4, "LodTensor"),
    },
    "LodTensor": {"tensor": (1, "Tensor"), "lod_level": (2, "int32")},
    "Tensor": {"data_type": (1, "int32"), "dims": (2, "*int64")},
}
"""Message -> its fields: number, and type (``*`` for a list). Texts are bytes: files of any encoding can be read."""


def message(name: str) -> Any:
    """An empty message of that name.

    Raises:
        UnsupportedError: the package protobuf is not installed.
    """
    return _classes()[name]()


def parse(name: str, data: bytes, file: str, what: str) -> Any:
    """The message of that name that *data* holds.

    Args:
        file: which file, for the message of an error.
        what: what is expected there.

    Raises:
        FileFormatError: it is none, or it is cut short.
        UnsupportedError: the package protobuf is not installed.
    """
    made = message(name)
    from google.protobuf.message import DecodeError

    try:
        made.ParseFromString(data)
    except DecodeError:
        raise FileFormatError(file, what, "its bytes are no such message, or they are cut short") from None
    return made


@cache
def _classes() -> dict[str, Any]:
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        raise UnsupportedError(
            "the files of Paddle itself need the package protobuf.", hint="pip install 'gradtool[paddle]'"
        ) from None
    file = descriptor_pb2.FileDescriptorProto(name="gradtool/paddle.proto", package="gradtool.paddle", syntax="proto2")
    kinds = descriptor_pb2.FieldDescriptorProto
    for name, fields in _MESSAGES.items():
        entry = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            label = kinds.LABEL_REPEATED if kind.startswith("*") else kinds.LABEL_OPTIONAL
            plain = kind.removeprefix("*")
            if plain in _MESSAGES:
                entry.field.add(
                    name=field,
                    number=number,
                    label=label,
                    type=kinds.TYPE_MESSAGE,
                    type_name=f".gradtool.paddle.{plain}",
                )
            else:
                entry.field.add(name=field, number=number, label=label, type=getattr(kinds, f"TYPE_{plain.upper()}"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"gradtool.paddle.{name}"))
        for name in _MESSAGES
    }
