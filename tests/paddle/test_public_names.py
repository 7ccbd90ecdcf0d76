"""The public names, pinned: adding or losing one is a change to ``public_names.txt`` that somebody has to make."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from gradtool.paddle import _lazy
from gradtool.paddle._old_paths import OldPathFinder

PINNED = Path(__file__).parent / "public_names.txt"


def packages() -> list[str]:
    return sorted(_lazy.packages())


def module(name: str) -> ModuleType:
    return importlib.import_module(name)


def _was_imported(home: ModuleType, name: str) -> bool:
    """Return whether a name stands there only since some test imported an old path of that name."""
    loader = getattr(getattr(_lazy.fields(home).get(name), "__spec__", None), "loader", None)
    tables = (*_lazy.SUBMODULES.get(home.__name__, ()), *_lazy.sources(home.__name__))
    return isinstance(loader, OldPathFinder) and name not in tables


def listing() -> str:
    """One paragraph for each module: its name, then the public names, each on a line."""
    parts = []
    for name in packages():
        home = module(name)
        public = [
            n
            for n in _lazy.own_names(home)
            if n.isidentifier() and not n.startswith("_") and not _was_imported(home, n)
        ]
        parts.append("\n".join([f"{name}:", *(f"    {n}" for n in public)]))
    return "\n\n".join(parts) + "\n"


def test_public_names_are_pinned() -> None:
    assert listing() == PINNED.read_text(), "if the change is meant: python -m tests.paddle.test_public_names"


@pytest.mark.parametrize("name", packages())
def test_every_public_name_can_be_had(name: str) -> None:
    home = module(name)
    for public in dir(home):
        assert hasattr(home, public)


if __name__ == "__main__":
    PINNED.write_text(listing())
