"""Every error has a code, every code a page, and the examples of the pages end in the errors that they are about."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gradtool.cli.guide import pages
from gradtool.engine.core import state
from gradtool.engine.core.errors import GradtoolError
from tests.cli.conftest import Run, Write
from tests.house.test_schemas import schema

ROOT = Path(__file__).parents[3]
SOURCES = [f for top in ("engine", "viz", "cli") for f in sorted((ROOT / top).rglob("*.py"))]
ROOTS = {"GradtoolError", "CommandError"}

TOLD = """
    E016 E030 E101 E107 E110 E201 E204 E210 E301 E305 E310 E311 E601 E602 E603 E604 E605 E901
"""
"""Pages whose example is only told: it needs a lack, a full disk, a debugger's prompt, a custom operator, a bug."""


CLASS = re.compile(r"^class (\w+)\(([^)]*)\):\n((?:    .*\n|\n)*)", re.MULTILINE)
CODE = re.compile(r'^    code = "([\w-]+)"$', re.MULTILINE)


def classes(source: str) -> Iterator[tuple[str, list[str], str]]:
    """The classes of a module: name, bases, and the code that stands in them."""
    for name, bases, body in CLASS.findall(source):
        yield name, [base.strip().rpartition(".")[2] for base in bases.split(",")], "".join(CODE.findall(body))


def errors() -> dict[str, tuple[list[str], str]]:
    """The classes of errors, whose bases lead to the two roots: name -> bases and own code."""
    there = {name: (bases, code) for file in SOURCES for name, bases, code in classes(file.read_text(encoding="utf-8"))}
    inside, grown = set(ROOTS), True
    while grown:
        more = {name for name, (bases, _) in there.items() if inside.intersection(bases)} - inside
        inside, grown = inside | more, bool(more)
    return {name: there[name] for name in sorted(inside)}


ERRORS = errors()
FIXED = {"GT-E001", "GT-E901"}
"""What no class of ours stands for: what click refuses, and whatever nobody expected."""


def code_of(name: str) -> str:
    """The code of a class: its own, or the first of its bases'."""
    bases, own = ERRORS[name]
    return own or next((code for base in bases if base in ERRORS and (code := code_of(base))), "")


def test_every_error_has_a_code() -> None:
    assert len(ERRORS) > 150
    assert not [name for name in ERRORS if name != "GradtoolError" and not code_of(name)]


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    own = [code for _, code in ERRORS.values() if code]
    assert len(set(own)) == len(own), "a code stands for one family of errors"
    assert pages.codes() == sorted({*own, *FIXED})


@pytest.mark.parametrize("code", pages.codes())
def test_a_page_says_what_why_and_what_to_do(code: str) -> None:
    page = pages.page(code)
    assert re.fullmatch(r"GT-E\d{3}", code)
    assert tuple(page.sections) == pages.SECTIONS
    assert page.title
    assert all(text for text in page.sections.values())


def blocks(code: str) -> dict[str, str]:
    """The example of a page: language -> text."""
    return dict(re.findall(r"```(\w+)\n(.*?)```", pages.page(code).sections["Example"], re.DOTALL))


RUN = [code for code in pages.codes() if code.removeprefix("GT-") not in TOLD.split()]


@pytest.mark.parametrize("code", [code for code in RUN if "sh" in blocks(code)])
def test_a_command_of_an_example_ends_in_its_error(code: str, gradtool: Run, model: Write) -> None:
    model(blocks(code).get("python", ""))
    program, *words = blocks(code)["sh"].split()
    done = gradtool(*words)
    assert program == "gradtool"
    assert done.code in (2, 3, 4)
    assert done.err.splitlines()[-1] == f"  code  {code}: gradtool explain {code}"


@pytest.mark.parametrize("code", [code for code in RUN if "sh" not in blocks(code)])
def test_lines_of_an_example_end_in_its_error(code: str, folder: Path) -> None:
    state.disable_static()
    lines = compile(blocks(code)["python"], "model.py", "exec", dont_inherit=True)
    with pytest.raises(GradtoolError) as refused:
        exec(lines, {"__name__": "model"})
    assert refused.value.code == code


def test_codes_are_explained_offline(gradtool: Run) -> None:
    told = gradtool("explain", "gt-e205")
    assert told.code == 0
    assert told.out.startswith("GT-E205  A graph that an earlier backward pass freed\n")
    assert "\n    loss.backward()\n" in told.out
    assert gradtool("explain", "E205").out == told.out
    listed = gradtool("explain", "--codes").out
    assert all(code in listed for code in pages.codes())


def test_rules_are_explained_by_code_and_name(gradtool: Run) -> None:
    assert gradtool("explain", "large-gradient").out == gradtool("explain", "GT203").out


def test_what_has_no_page_is_an_error(gradtool: Run) -> None:
    done = gradtool("explain", "GT-E777")
    assert done.code == 2
    assert "unknown code 'GT-E777'" in done.err
    assert gradtool("explain", "GT777").code == 2


@pytest.mark.parametrize(("words", "kind"), [(["GT-E012"], "explain"), (["--codes"], "errors"), (["GT103"], "rule")])
def test_explanations_as_json(words: list[str], kind: str, gradtool: Run) -> None:
    data: Any = json.loads(gradtool("explain", *words, "--format", "json").out)
    jsonschema.validate(data, schema(kind))


def test_a_code_is_part_of_what_an_error_of_a_model_says(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model("import paddle\npaddle.enable_static()\npaddle.ones([2]).mean(3)\n"))
    assert done.code == 4
    assert done.err.splitlines()[-1] == "  code  GT-E103: gradtool explain GT-E103"
