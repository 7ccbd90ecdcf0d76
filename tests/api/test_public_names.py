"""The public names, pinned: adding or losing one is a change to ``public_names.txt`` that somebody has to make."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

import gradtool
from gradtool import _lazy

PINNED = Path(__file__).parent / "public_names.txt"


def packages() -> list[str]:
    return sorted(_lazy.packages())


def module(name: str) -> ModuleType:
    target: ModuleType = gradtool
    for part in name.split(".")[1:]:
        target = getattr(target, part)
    return target


def listing() -> str:
    """One paragraph for each module: its name, then the public names, each on a line."""
    parts = []
    for name in packages():
        public = [n for n in dir(module(name)) if n.isidentifier() and not n.startswith("_")]
        parts.append("\n".join([f"{name}:", *(f"    {n}" for n in public)]))
    return "\n\n".join(parts) + "\n"


def test_public_names_are_pinned() -> None:
    assert listing() == PINNED.read_text(), "if the change is meant: python -m tests.api.test_public_names"


@pytest.mark.parametrize("name", packages())
def test_every_public_name_can_be_had(name: str) -> None:
    home = module(name)
    for public in dir(home):
        assert hasattr(home, public)


if __name__ == "__main__":
    PINNED.write_text(listing())
