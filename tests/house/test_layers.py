"""What import-linter cannot say: imports by name, and what stands between the public names and the engine.

Only one table of the engine reaches upwards.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from gradtool.engine.core import upward

ENGINE = Path(__file__).resolve().parents[2] / "engine"
TABLE = ENGINE / "core" / "upward.py"
ROOMS = ("data", "gate", "importers", "kinds", "loading", "questions", "recorders", "request", "script", "sweeps")
"""Folders above Paddle's names; the others of the engine stand below."""
BELOW = [f for f in sorted(ENGINE.rglob("*.py")) if f.relative_to(ENGINE).parts[0] not in ("paddle", "tool", *ROOMS)]


@cache
def nodes(file: Path) -> list[ast.AST]:
    """The nodes of a file that import or call, where it imports by name or names the package."""
    text = file.read_text(encoding="utf-8")
    if not any(word in text for word in ("import_module", "__import__", "gradtool")):
        return []  # to read a file as a tree takes a hundred times as long
    kinds = (ast.Call, ast.Import, ast.ImportFrom)
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]


def imported_by_name(file: Path) -> Iterator[ast.Call]:
    """Calls of ``import_module`` and ``__import__``."""
    for node in nodes(file):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("import_module", "__import__"):
            yield node


def test_the_engine_reaches_upwards_in_one_place() -> None:
    calls = [
        f"{file.relative_to(ENGINE)}:{call.lineno}: {ast.unparse(call)}"
        for file in BELOW
        if file != TABLE
        for call in imported_by_name(file)
        if ".." in ast.unparse(call.args[0]) or "gradtool" in ast.unparse(call.args[0])
    ]
    assert not calls, f"name it in {TABLE.name}, with its reason"


def test_one_folder_may_import_its_own_files_by_name() -> None:
    """The registry loads the file of an operator, a backend that of its name; NumPy and ml_dtypes are no layers."""
    by_name = {file.relative_to(ENGINE).as_posix() for file in BELOW if [*imported_by_name(file)]}
    assert by_name == {"core/spec.py", "core/upward.py", "kernels/choice.py", "kernels/quiet.py", "ops/registry.py"}


@pytest.mark.parametrize("part", upward.PARTS)
def test_every_entry_is_needed_and_there(part: str) -> None:
    asked = f'upward.part("{part}")'
    assert [f for f in ENGINE.rglob("*.py") if asked in f.read_text(encoding="utf-8")], f"nobody asks for {part}"
    assert upward.part(part) is importlib.import_module(upward.PARTS[part])


def absolute_imports(file: Path) -> Iterator[str]:
    """The modules of ours that a file imports by their whole names."""
    for node in nodes(file):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        yield from (name for name in names if name.partition(".")[0] == "gradtool")


def test_the_engine_knows_no_public_name() -> None:
    """Inside a folder imports are relative; the public names are the only other part of the package below pictures."""
    imports = [f"{file.relative_to(ENGINE)}: {name}" for file in BELOW for name in absolute_imports(file)]
    assert not imports, "public names know the engine, not the other way round"


def test_public_names_know_neither_pictures_nor_commands() -> None:
    """What they provide from there, ``_names.py`` says in text, and nothing is loaded before somebody asks."""
    imports = [
        f"{file.relative_to(ENGINE)}: {name}"
        for file in sorted((ENGINE / "paddle").rglob("*.py"))
        for name in absolute_imports(file)
        if name.startswith(("gradtool.viz", "gradtool.cli"))
    ]
    assert not imports
