"""Programs of the system that tests need: what is missing is said in one line, with the package that brings it."""

from __future__ import annotations

import shutil

import pytest

PACKAGES = {
    "neato": "graphviz",
    "dot": "graphviz",
    "node": "nodejs",
    "chromium": "chromium",
    "zsh": "zsh",
    "fish": "fish",
}


def system_program(name: str, *others: str) -> str:
    """The path of a program, or of another that will do as well.

    Raises:
        pytest.fail.Exception: none of them is there. The test fails: it is not skipped.
    """
    path = next(filter(None, map(shutil.which, (name, *others))), None)
    if path is None:
        pytest.fail(
            f"there is no program '{name}': install the system package '{PACKAGES[name]}' (.ci/packages does)",
            pytrace=False,
        )
    return path
