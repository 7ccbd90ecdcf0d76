"""Small broken models as users write them: the command that one runs first must name the place and the cause."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import folder, gradtool  # noqa: F401

FILES = sorted((Path(__file__).parent / "numerics").glob("*.py"))


def header(file: Path) -> dict[str, str]:
    lines = file.read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    return dict(re.fullmatch(r"# (\w+): (.*)", line).groups() for line in lines)  # type: ignore[union-attr]


def test_there_are_enough_of_them() -> None:
    names = [f.name for f in FILES]
    assert len(names) >= 30
    assert sum(n.startswith("ok_") for n in names) >= 10


@pytest.mark.sampled(2)
@pytest.mark.parametrize("file", [f for f in FILES if header(f)["run"] == "gradtool nan"], ids=lambda f: f.stem)
def test_where_a_bad_number_was_born(gradtool: object, file: Path) -> None:  # noqa: F811
    told = header(file)
    done = gradtool("nan", str(file), "--format", "json", "-q")  # type: ignore[operator]
    story = json.loads(done.out)
    if told["verdict"] == "clean":
        assert (done.code, story["births"]) == (0, [])
        return
    assert done.code == 1, done.out
    part, op_type, cause = told["verdict"].split(" ", 2)
    first = story["births"][0]
    assert (first["part"], first["type"]) == (part, op_type), first
    assert cause in first["cause"]
    assert first["source"]["line"] == int(told["line"])


@pytest.mark.parametrize("file", [f for f in FILES if header(f)["run"] == "gradtool gradcheck"], ids=lambda f: f.stem)
def test_what_is_wrong_with_a_gradient(gradtool: object, file: Path) -> None:  # noqa: F811
    told = header(file)
    done = gradtool("gradcheck", str(file), "--format", "json", "-q")  # type: ignore[operator]
    answer = json.loads(done.out)
    if told["verdict"] == "clean":
        assert (done.code, answer["passed"]) == (0, True)
        return
    status, name, cause = told["verdict"].split(" ", 2)
    entry = next(e for e in answer["entries"] if e["name"] == name)
    assert (done.code, entry["status"]) == ({"wrong": 1, "kink": 4}[status], status)
    assert cause in entry["cause"]
    if told["line"] != "none":
        assert entry["source"]["line"] == int(told["line"])


@pytest.mark.parametrize("file", [f for f in FILES if header(f)["run"] == "gradtool stats"], ids=lambda f: f.stem)
def test_how_gradients_change_with_depth(gradtool: object, file: Path) -> None:  # noqa: F811
    told = header(file)
    done = gradtool("stats", str(file), "--format", "json", "-q")  # type: ignore[operator]
    answer = json.loads(done.out)
    assert done.code == 0
    if told["verdict"] == "clean":
        assert answer["trend"] is None
        assert {row["verdict"] for row in answer["rows"]} == {"ok"}
        return
    verdict, first = told["verdict"].split(" ", 1)
    assert (answer["trend"]["kind"], answer["trend"]["first"]) == (verdict, first)
    row = next(row for row in answer["rows"] if row["name"] == first)
    assert row["source"]["line"] == int(told["line"])
