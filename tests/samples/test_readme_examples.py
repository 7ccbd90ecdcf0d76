"""What the README and the page about the library print is what their commands and programs print."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from gradtool.cli import commands
from tests import processes

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LIBRARY = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
START = "import sys; from gradtool.cli.main import main; sys.argv[0] = 'gradtool'; sys.exit(main())"


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def printed(command: list[str], codes: tuple[int, ...] = (0,), typed: str = "") -> str:
    plain = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "COLUMNS")} | {"PYTHONIOENCODING": "utf-8"}
    done = processes.run(command, given=typed, cwd=ROOT, env=plain)
    assert done.returncode in codes, done.stderr
    return done.stdout


@pytest.mark.parametrize("block", blocks("console"))
def test_commands(block: str) -> None:
    command, _, expected = block.partition("\n")
    program, *arguments = shlex.split(command.removeprefix("$ "))
    assert program == "gradtool"
    typed = "".join(f"{cell}\n" for cell in re.findall(r"^In \[\d+\]: (.*)$", expected, re.MULTILINE))
    assert printed([sys.executable, "-c", START, *arguments], codes=(0, 1), typed=typed) == expected


def test_it_is_short_and_shows_the_script_that_it_asks_about() -> None:
    assert len(README.splitlines()) < 200
    assert blocks("python")[0] == (ROOT / "samples" / "detached_expert.py").read_text(encoding="utf-8")


def test_the_table_of_commands_is_complete() -> None:
    assert re.findall(r"^\| `gradtool ([^`]+)` \|", COMMANDS, re.MULTILINE) == ["MODEL", *commands.every()[1:]]


@pytest.mark.parametrize(
    ("program", "expected"), list(zip(blocks("python", LIBRARY), blocks("text", LIBRARY), strict=True))
)
def test_program(program: str, expected: str) -> None:
    assert printed([sys.executable, "-c", program]) == expected


def test_the_checks_run_the_command_that_the_readme_names() -> None:
    line = next(c for c in "".join(blocks("sh")).splitlines() if "pytest" in c)
    packages, _, install, tests = line.replace(".venv/bin/", "").split(" && ")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert packages == ".ci/packages"
    assert f"beside packages {packages}" in script
    assert "end_of packages 1" in script
    options = install.removeprefix("pip install ")
    assert any(done.endswith(options) for done in script)
    assert tests == "python -m pytest -n auto"
    assert f"{tests} || tests=$?" in script
    assert script[-1] == 'exit "$tests"'
