"""``paddle.save`` and ``paddle.load``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, BinaryIO

from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError
from gradtool.engine.files import container
from gradtool.engine.files.writing import write_files

from . import _checkpoints, _nested
from .nn.layer import Layer


class ProtocolError(ArgumentTypeError, ValueError):
    """A pickle protocol that Paddle does not know either."""


def save(obj: Any, path: str | os.PathLike[str] | BinaryIO, protocol: int = 4, **configs: Any) -> None:
    """Write an object to a file: a state dict, or any nesting of lists, tuples and dicts around tensors and numbers.

    The file is a safetensors file: other software reads the tensors in it, and loading it runs no code. It is written
    whole or not at all. Tensors keep their dtype; one that appears twice is stored once and is one tensor again.

    Args:
        obj: tensors, NumPy arrays and numbers, Python numbers, strings, None, a static ``Program``, and lists, tuples
            and dicts of these (what ``state_dict()`` of a layer or an optimizer gives).
        path: where to; folders are made when missing. Or an open binary file, such as ``io.BytesIO``.
        protocol: 2, 3 or 4, as in Paddle; it has no meaning here, since nothing is pickled, but with *format*.
        format: ``"paddle"`` writes what real Paddle loads: a pickle, of a program its description. A keyword.

    Raises:
        ArgumentTypeError: something in *obj* is of another type; the message says where (a TypeError).
        UsageError: *path* names no file, *obj* is a Layer or nested too deeply, a wrong *protocol* (a ValueError).
        OSError: the file cannot be written.

    >>> import io
    >>> file = io.BytesIO()
    >>> save({"step": 3, "rates": (0.1, 0.2)}, file)
    >>> load(io.BytesIO(file.getvalue()))
    {'step': 3, 'rates': (0.1, 0.2)}
    """
    check_protocol(protocol)
    form = configs.pop("format", None)
    refuse_options("paddle.save", configs)
    if form not in (None, "paddle"):
        raise UsageError(f"paddle.save: format is 'paddle' or left out, but is {form!r}.")
    if isinstance(obj, Layer):
        raise UsageError("paddle do not support saving `paddle.nn.Layer` object.", hint="save its state_dict()")
    if not isinstance(path, (str, os.PathLike)) and hasattr(path, "write"):
        path.writelines(_pieces(obj, form, protocol))
        return
    pieces = _pieces(obj, form, protocol)
    write_files({target(path): pieces})


def _pieces(obj: Any, form: str | None, protocol: int) -> Iterable[Any]:
    """The bytes of a file that holds *obj*, in gradtool's form or in Paddle's."""
    if form is None:
        return _nested.pieces(obj)
    return [_checkpoints.written(obj, protocol)]


def async_save(
    obj: Any, path: str | os.PathLike[str] | BinaryIO, protocol: int = 4, sync_other_task: bool = False, **configs: Any
) -> None:
    """:func:`save`. The file is written before this returns: what is saved is what *obj* holds now, in Paddle as well.

    Args:
        sync_other_task: accepted for compatibility: there is no other task to wait for.
    """
    save(obj, path, protocol, **configs)


def clear_async_save_task_queue() -> None:
    """Wait for what :func:`async_save` still writes, which is nothing: it writes at once."""


def load(path: str | os.PathLike[str] | BinaryIO, return_numpy: bool = False, **configs: Any) -> Any:
    """The object that :func:`save` wrote, here or in real Paddle; of a safetensors file, its tensors by name.

    Files of ``torch.save`` are read, too, which Paddle does not do: ``state_dict()`` of a module or an optimizer. No
    code in a file is run: what Paddle and PyTorch write are pickles, of which arrays, tensors, numbers, texts and plain
    containers are read, and nothing else is. Sizes are checked against the size of the file before anything is
    allocated. Tensors come back as leaves with ``stop_gradient=True``; in static mode as values that
    ``Program.set_state_dict`` takes.

    Args:
        path: a file, or an open binary file at the beginning of what was saved.
        return_numpy: arrays instead of tensors.

    Raises:
        FileMissing: there is no such file (a FileNotFoundError and a ValueError).
        FileFormatError: the file is cut short, damaged, or something else, such as a pickle that names a class; says
            what was expected and what is there (a ValueError).
    """
    refuse_options("paddle.load", configs)
    if not isinstance(path, (str, os.PathLike)) and hasattr(path, "read"):
        return _nested.read(path, str(getattr(path, "name", type(path).__name__)), return_numpy)
    name = _path(path, "loading")
    with container.open_file(name) as file:
        return _nested.read(file, name, return_numpy)


def target(path: Any) -> str:
    """The path of a file to write, whose folder is made when it is missing."""
    name = _path(path, "saving")
    if not os.path.basename(name):
        raise UsageError(
            "The input path MUST be format of dirname/filename [dirname\\filename in Windows system], but received "
            "filename is empty string."
        )
    folder = os.path.dirname(name)
    if folder:
        os.makedirs(folder, exist_ok=True)
    return name


def _path(path: Any, what: str) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise PathTypeError(f"only supports {what} objects to file and `BytesIO`, but got {type(path)}")
    return os.fsdecode(path)


class PathTypeError(ArgumentTypeError, ValueError):
    """A path of a wrong type."""


def check_protocol(protocol: Any) -> None:
    """Refuse what Paddle refuses, although the protocol of pickles means nothing here."""
    if isinstance(protocol, bool) or not isinstance(protocol, int):
        raise ProtocolError(f"The 'protocol' MUST be `int`, but received {type(protocol)}")
    if not 2 <= protocol <= 4:
        raise ProtocolError(f"Expected 1<'protocol'<5, but received protocol={protocol}")


def refuse_options(where: str, configs: dict[str, Any], options: tuple[str, ...] = ()) -> None:
    """Refuse keyword arguments other than *options*."""
    for name in configs:
        if name not in options:
            raise UnsupportedError(f"The additional config ({name}) of `{where}` is not supported.")
