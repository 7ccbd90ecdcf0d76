"""Names that modules of Paddle have: what gradtool gives for those that no table of its own has.

``_paddle_names.txt`` has the names of the modules that public projects import, recorded from Paddle. A name that
gradtool has under another module is that one; a constant has its value; what Paddle imported is imported. Every other
name is a :class:`NotHere`: it can be imported, and raises the error that says why once it is used.
"""

from __future__ import annotations

import ast
import importlib
from abc import ABCMeta
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Never

from . import _lazy

FILE = Path(__file__).with_name("_paddle_names.txt")

MISSING = object()


class NameOrigin(NamedTuple):
    """Origin of a name.

    Attributes:
        module: that it is from.
        name: that it has there; empty for a module itself.
    """

    module: str
    name: str


class ModuleNames:
    """The names of one module of Paddle.

    Attributes:
        origins: of each name; of a name that is defined in it, the module itself.
        constants: the text of the value of each constant.
        public: names in its ``__all__``.
    """

    def __init__(self) -> None:
        self.origins: dict[str, NameOrigin] = {}
        self.constants: dict[str, str] = {}
        self.public: set[str] = set()

    def __iter__(self) -> Iterator[str]:
        return iter({**self.origins, **self.constants})


NOTHING = ModuleNames()


@cache
def _record() -> dict[str, ModuleNames]:
    """Every module of the file with its names."""
    usual: dict[str, NameOrigin] = {}
    modules: dict[str, ModuleNames] = {}
    imported: list[tuple[ModuleNames, str]] = []
    homes: dict[str, list[str]] = defaultdict(list)
    module, names = "", NOTHING
    for line in FILE.read_text(encoding="utf-8").splitlines():
        head, _, rest = line.lstrip(" ").partition(" ")
        if line.startswith("#"):
            continue
        if line.startswith("* "):
            home, _, rest = rest.partition(" ")
            usual |= dict(_origins(home, rest))
        elif not line.startswith(" "):
            module, names = line, modules.setdefault(line, ModuleNames())
        elif head.startswith("="):
            names.constants[head[1:]] = rest
        elif head.startswith("@"):
            names.origins |= dict(_origins(head[1:], rest))
        elif head in ("<", "<+"):
            imported += [(names, name) for name in rest.split()]
            names.public |= {*rest.split()} if head == "<+" else set()
        else:
            names.public |= {*rest.split()} if head == "+" else set()
            for name in rest.split() if head == "+" else line.split():
                names.origins[name] = NameOrigin(module, name)
                homes[name].append(module)
    for names, name in imported:
        names.origins[name] = usual.get(name) or NameOrigin(homes[name][0], name)
    for path in list(modules):
        while "." in path:
            package, _, last = path.rpartition(".")
            modules.setdefault(package, ModuleNames()).origins.setdefault(last, NameOrigin(path, ""))
            path = package
    return modules


def _origins(home: str, names: str) -> Iterator[tuple[str, NameOrigin]]:
    for word in names.split():
        name, _, own = word.partition("=")
        yield name, NameOrigin(home[1:], "") if home.startswith("=") else NameOrigin(home, own or name)


@cache
def _holders() -> dict[NameOrigin, list[str]]:
    """The modules that offer what is from one place under its own name."""
    held = defaultdict(list)
    for path, names in _record().items():
        for name, origin in names.origins.items():
            if origin.name == name:
                held[origin].append(path)
    return held


def of(module: str) -> ModuleNames:
    """The names of a module of gradtool in Paddle; none where Paddle has no such module."""
    return _record().get(module.replace("gradtool.paddle", "paddle", 1), NOTHING)


def is_module(module: str) -> bool:
    """Return True for a module of gradtool whose counterpart in Paddle is recorded."""
    return module.replace("gradtool.paddle", "paddle", 1) in _record()


def modules() -> list[str]:
    """The modules of Paddle that are recorded."""
    return list(_record())


def value(module: str, name: str) -> Any:
    """Return what *name* is in that module of gradtool; :data:`MISSING` where Paddle has no such name."""
    names = of(module)
    if name in names.constants:
        return ast.literal_eval(names.constants[name])
    origin = names.origins.get(name)
    if origin is None:
        return MISSING
    if not origin.name:
        return _module(module, name, origin.module)
    if not origin.module.startswith("paddle"):
        return _foreign(origin, module, name)
    for path in dict.fromkeys([origin.module, *_holders().get(origin, ())]):
        result = _own(path.replace("paddle", "gradtool.paddle", 1), origin.name)
        if result is not MISSING:
            return result
    return _method(origin, module, name)


def places(module: str, name: str) -> list[NameOrigin]:
    """Return the modules of Paddle that offer what *name* is in that module of gradtool, and where it is from."""
    origin = of(module).origins.get(name)
    if origin is None:
        return []
    own = NameOrigin(module.replace("gradtool.paddle", "paddle", 1), name)
    if not origin.name:
        return [own, origin]
    return list(dict.fromkeys([own, *(NameOrigin(path, origin.name) for path in _holders().get(origin, ())), origin]))


def _module(module: str, name: str, path: str) -> Any:
    try:
        return importlib.import_module(path.replace("paddle", "gradtool.paddle", 1) if _is_paddles(path) else path)
    except ImportError:
        return absent(module, name)


def _is_paddles(path: str) -> bool:
    return path.partition(".")[0] == "paddle"


def _foreign(origin: NameOrigin, module: str, name: str) -> Any:
    """Return a value that Paddle imported from Python or another package."""
    try:
        return getattr(importlib.import_module(origin.module), origin.name)
    except (ImportError, AttributeError):
        return absent(module, name)


def _own(path: str, name: str) -> Any:
    """Return the value that a module of gradtool has under a name by a table or in its own file."""
    from . import _old_paths

    if not _lazy.is_there(path) and path not in _old_paths.HOMES:
        return MISSING
    module = importlib.import_module(path)
    if name in _lazy.fields(module):
        found = _lazy.fields(module)[name]
        return MISSING if isinstance(found, (NotHere, ModuleType)) else found
    if name in _lazy.sources(path) or name in _lazy.PRIVATE.get(path, ()):
        return getattr(module, name)
    for home in _old_paths.HOMES.get(path, ()):
        found = _own(home, name) if home != path else MISSING
        if found is not MISSING:
            return found
    return MISSING


def _method(origin: NameOrigin, module: str, name: str) -> Any:
    """A function on tensors that gradtool has as a method alone."""
    if origin.module.startswith("paddle.tensor."):
        from gradtool.engine.eager.tensor import Tensor

        found = getattr(Tensor, origin.name, MISSING)
        if callable(found):
            return found
    return absent(module, name)


class NotHere(ABCMeta):
    """The class of names that Paddle has and gradtool has not: they are classes, so that they can be imported, stand in
    annotations, be compared and inherited from. Everything else raises the error that says why they are not there.

    Raises:
        NotImplementedHere: by every use.
    """

    _at: tuple[str, str]

    def __call__(cls, *arguments: Any, **keywords: Any) -> Never:
        raise _lazy.missing(*cls._at, [])

    def __getattr__(cls, name: str) -> Never:
        if name.startswith("__") or name == "_at":
            raise AttributeError(name)
        raise _lazy.missing(*cls._at, [])

    def __getitem__(cls, key: Any) -> Any:
        return cls  # in an annotation

    def __instancecheck__(cls, instance: Any) -> bool:
        return False

    def __repr__(cls) -> str:
        return f"<{'.'.join(cls._at).removeprefix('gradtool.')}, which is not in gradtool>"


def _raises(cls: NotHere, *arguments: Any) -> Never:
    raise _lazy.missing(*cls._at, [])


USES = (
    "iter next len int float index complex enter contains add radd sub rsub mul rmul truediv rtruediv matmul pow neg "
    "abs lt le gt ge"
)
"""Operators that raise as a call does."""

for _name in USES.split():
    setattr(NotHere, f"__{_name}__", _raises)


@cache
def absent(module: str, name: str) -> NotHere:
    """Return the object in place of a name that is not there."""
    public = module.replace("gradtool.paddle", "paddle", 1)
    return NotHere(name, (), {"__module__": public, "__qualname__": name, "_at": (module, name)})
