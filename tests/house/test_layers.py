"""What import-linter cannot see: imports by name. Only one table of the engine reaches upwards."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradtool.engine.core import upward

ENGINE = Path(__file__).resolve().parents[2] / "engine"
TABLE = ENGINE / "core" / "upward.py"
FILES = [f for f in sorted(ENGINE.rglob("*.py")) if ENGINE / "api" not in f.parents]


def imported_by_name(file: Path) -> Iterator[ast.Call]:
    """Calls of ``import_module`` and ``__import__``."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("import_module", "__import__"):
            yield node


def test_the_engine_reaches_upwards_in_one_place() -> None:
    calls = [
        f"{file.relative_to(ENGINE)}:{call.lineno}: {ast.unparse(call)}"
        for file in FILES
        if file != TABLE
        for call in imported_by_name(file)
        if ".." in ast.unparse(call.args[0]) or "gradtool" in ast.unparse(call.args[0])
    ]
    assert not calls, f"name it in {TABLE.name}, with its reason"


def test_one_folder_may_import_its_own_files_by_name() -> None:
    """The registry loads the file of an operator, a backend that of its name; NumPy and ml_dtypes are no layers."""
    by_name = {file.relative_to(ENGINE).as_posix() for file in FILES if [*imported_by_name(file)]}
    assert by_name == {"core/spec.py", "core/upward.py", "kernels/choice.py", "kernels/quiet.py", "ops/registry.py"}


@pytest.mark.parametrize("part", upward.PARTS)
def test_every_entry_is_needed_and_there(part: str) -> None:
    asked = f'upward.part("{part}")'
    assert [f for f in FILES if asked in f.read_text(encoding="utf-8")], f"nobody asks for {part}"
    assert upward.part(part) is importlib.import_module(upward.PARTS[part])
