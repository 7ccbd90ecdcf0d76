"""Model files that hold something else than Python: an importer for each form, a file in this folder.

An importer is a function of the file's path and contents, with the endings of its files. What it returns is what the
function of a model file may return: a loss, ``(loss, feed)``, or a Program;
or an :class:`Imported` program. It builds that with the public names, in
the mode that it switches to; every question can then be asked about it.

What an importer needs it imports when it reads: the endings of all files are also asked for at Tab in a shell.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..script import cells

if TYPE_CHECKING:  # what knows the endings of files loads no NumPy
    from ..ir.program import Program


class Imported(NamedTuple):
    """A program from a file that says what it computes.

    Attributes:
        outputs: the names of what it computes; where none of them is a loss, one is made of them.
        notes: what is read otherwise than the file says it.
        feed: what it was fed where it ran, by name.
    """

    program: Program
    outputs: tuple[str, ...]
    notes: tuple[str, ...] = ()
    feed: Mapping[str, Any] = MappingProxyType({})


class UnknownSizes(NamedTuple):
    """Description of the open sizes of a file.

    Attributes:
        named: by the names that the file gives them.
        fed: the shapes of what is fed, by the names of inputs; that of an array without a name under None.
    """

    named: Mapping[str, int] = MappingProxyType({})
    fed: Mapping[str | None, tuple[int, ...]] = MappingProxyType({})


UNTOLD: Final = UnknownSizes()
"""Nothing is told."""

Importer = Callable[..., Any]

PYTHON: Final = ".py"
_importers: dict[str, Importer] = {}
_sized: set[Importer] = set()


def importer(*endings: str, sized: bool = False) -> Callable[[Importer], Importer]:
    """Register the function below for files whose names end so; longer endings come before shorter ones.

    Args:
        sized: it takes :class:`UnknownSizes`, too: its files leave sizes open, and give them names.

    >>> @importer(".constant")
    ... def read(path, data):
    ...     from gradtool import paddle
    ...
    ...     return paddle.to_tensor(float(data), stop_gradient=False) * 1.0
    >>> importer_of(Path("model.constant")) is read
    True
    """

    def register(function: Importer) -> Importer:
        _importers.update(dict.fromkeys(endings, function))
        if sized:
            _sized.add(function)
        return function

    return register


def importer_of(path: Path) -> Importer | None:
    """The importer of files that are called so; None if there is none."""
    by_ending = _all()
    fitting = [ending for ending in by_ending if path.name.lower().endswith(ending)]
    return by_ending[max(fitting, key=len)] if fitting else None


def _all() -> dict[str, Importer]:
    """The importers of this folder, and whatever else was registered, by the endings of their files."""
    import pkgutil

    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        if not module.ispkg:
            importlib.import_module(module.name)
    return _importers


def endings() -> tuple[str, ...]:
    """Return the endings of model files: Python, notebooks, saved programs, and what importers read.

    >>> set(endings()) >= {".py", ".ipynb", ".pdmodel", ".onnx"}
    True
    """
    from . import saved_program

    return (PYTHON, cells.ENDING, *saved_program.PROGRAMS, *_all())


def is_called_model(path: Path) -> bool:
    """Return whether a file has the name of a model file."""
    return path.name.lower().endswith(endings())


def is_file_name(path: Path) -> bool:
    """Return whether *path* looks like a file name, so that it is no dotted name of a module."""
    from . import saved_program

    known = path.suffix.lower() in {PYTHON, *saved_program.ENDINGS} or len(path.parts) != 1
    return known or importer_of(path) is not None


def takes_sizes(path: Path) -> bool:
    """Return whether files of that name leave sizes open that options set: their readers take :class:`UnknownSizes`."""
    return importer_of(path) in _sized


def reader(path: Path, data: bytes) -> Callable[..., Any] | None:
    """A function that reads the model in *data*, the contents of *path*; None if it is Python.

    Raises:
        CommandError: it holds something else than its name says, or its name does not say what it holds.
    """
    if path.suffix.lower() == PYTHON:
        return None
    read = importer_of(path)
    if read is not None:
        return partial(read, path, data)
    from . import saved_program

    return saved_program.reader(path, data)
