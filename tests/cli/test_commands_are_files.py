"""The commands are the files of their folder, each short, each with a sentence about it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from gradtool.cli import commands
from gradtool.cli.help_pages import Command

FOLDER = Path(__file__).parents[2] / "cli" / "commands"
FILES = sorted(f for f in FOLDER.glob("*.py") if f.name != "__init__.py")
MOST_LINES = 45


def test_the_commands_are_the_files_of_the_folder() -> None:
    assert sorted(map(commands.file_name, commands.every())) == [f.stem for f in FILES]
    assert commands.names()[: len(commands.FIRST)] == [*commands.FIRST]
    assert commands.names()[-1] == commands.HOUSE


@pytest.mark.parametrize("name", commands.every())
def test_a_command_is_called_as_its_file_and_says_what_it_does(name: str) -> None:
    command = commands.load(name)
    assert isinstance(command, Command)
    assert command.name == name
    assert commands.summary(name) == (
        ast.get_docstring(ast.parse((FOLDER / f"{commands.file_name(name)}.py").read_text())) or ""
    )
    assert commands.summary(name).endswith(".")


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_what_a_command_does_is_short(file: Path) -> None:
    functions = [n for n in ast.parse(file.read_text()).body if isinstance(n, ast.FunctionDef)]
    for function in functions:
        first = function.body[1] if ast.get_docstring(function) else function.body[0]
        assert (function.end_lineno or 0) - first.lineno < MOST_LINES, function.name
