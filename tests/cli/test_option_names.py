"""Options of one name take the same in every command, as docs/options.md says; releases are made as they are tested."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import click
import pytest

from gradtool.cli import commands

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")


def rows(text: str, cells: int) -> list[list[str]]:
    """The rows of the tables of a text that have so many cells, without headings and back quotes."""
    lines = [line.strip("|").replace("\\|", "\0").split("|") for line in text.splitlines() if line.startswith("| `")]
    return [[cell.replace("\0", "|").strip(" `") for cell in line] for line in lines if len(line) == cells]


MEANT = {option: takes for option, takes, _ in rows(PAGE, 3)}
DIFFERENT = {(option, command): takes for option, command, takes, _ in rows(PAGE, 4)}


def takes(option: click.Option) -> str:
    """What an option takes, as help says it."""
    if option.is_flag or option.count:
        return "–"
    if isinstance(option.type, click.Choice) and not option.metavar:
        return "|".join(map(str, option.type.choices))
    return option.metavar or option.type.name


def options() -> dict[str, dict[str, str]]:
    """Name of an option -> command -> what it takes there."""
    there: dict[str, dict[str, str]] = defaultdict(dict)
    for name in commands.every():
        for param in commands.load(name).params:
            if isinstance(param, click.Option) and not param.hidden:
                there[max(param.opts, key=len)][name] = takes(param)
    return there


OPTIONS = options()


def test_every_shared_name_stands_in_a_table_and_no_other() -> None:
    shared = {option for option, where in OPTIONS.items() if len(where) > 1}
    assert sorted({*MEANT, *(option for option, _ in DIFFERENT)}) == sorted(shared)
    assert [*MEANT] == sorted(MEANT)


@pytest.mark.parametrize("option", MEANT)
def test_a_name_takes_the_same_in_every_command(option: str) -> None:
    told = {command: DIFFERENT.get((option, command), MEANT[option]) for command in OPTIONS[option]}
    assert OPTIONS[option] == told


def test_every_exception_is_one() -> None:
    for (option, command), takes in DIFFERENT.items():
        assert OPTIONS[option][command] == takes != MEANT.get(option)


def test_short_names_belong_to_one_option() -> None:
    short = defaultdict(set)
    for name in commands.every():
        for param in commands.load(name).params:
            for opt in param.opts:
                if re.fullmatch(r"-\w", opt):
                    short[opt].add(max(param.opts, key=len))
    assert {opt: names for opt, names in short.items() if len(names) > 1} == {}


def test_the_release_tries_commands_that_there_are() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    asked = re.findall(r"^ +gradtool (\w+)", text, re.MULTILINE)
    assert asked
    assert set(asked) <= set(commands.names())
    order = [text.index(step) for step in (".ci/run", "python -m build", "attest-build-provenance", "pypi-publish")]
    assert order == sorted(order)
