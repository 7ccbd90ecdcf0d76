"""A glob of ``--no-grad`` or ``--params`` means parameters, and says so; ``tensor:`` means tensors; names are names."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Write = Callable[[str], str]
Run = Callable[..., Any]

STATIC = """\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 8])
h = paddle.static.nn.fc(x, 3, name="body")
loss = paddle.mean(paddle.static.nn.fc(h, 1, name="body_2"))
"""

DYNAMIC = """\
import paddle

body = paddle.nn.Linear(8, 3)
body_2 = paddle.nn.Linear(3, 1)
body_h = body(paddle.ones([4, 8]))
loss = body_2(body_h).mean()
"""

BOTH = pytest.mark.parametrize(
    ("text", "weight", "result"),
    [(STATIC, "body.w_0", "body.tmp_1"), (DYNAMIC, "body.weight", "body_h")],
    ids=["static", "dynamic"],
)


def answer(gradtool: Run, *words: str) -> tuple[dict[str, Any], str]:
    done = gradtool("backward", *words, "--format", "json")
    assert done.code == 0, done.err
    return json.loads(done.out), done.err


@BOTH
def test_a_glob_cuts_at_parameters_alone(text: str, weight: str, result: str, gradtool: Run, model: Write) -> None:
    data, said = answer(gradtool, model(text), "--no-grad", "body.*")
    assert data["removed_by_no_grad"] == len(data["no_grad"]) == 2
    assert said.startswith(f"--no-grad body.* matched {weight}, ")


@BOTH
def test_what_else_it_would_match_is_said(text: str, weight: str, result: str, gradtool: Run, model: Write) -> None:
    _, said = answer(gradtool, model(text), "--no-grad", "body*")
    first = said.splitlines()[0]
    assert first.rpartition(" · ")[2].startswith("tensor:body* matches ")
    assert result not in first


@BOTH
def test_tensors_are_named_as_such(text: str, weight: str, result: str, gradtool: Run, model: Write) -> None:
    glob = result.replace(".tmp_1", ".tmp_*").replace("_h", "_[h]")
    data, said = answer(gradtool, model(text), "--no-grad", f"tensor:{glob}")
    assert data["removed_by_no_grad"] == 2  # what stands before the result
    assert result in said
    assert answer(gradtool, model(text), "--no-grad", result)[0]["removed_by_no_grad"] == 2
    assert answer(gradtool, model(text), "--no-grad", f"tensor:{result}")[0]["removed_by_no_grad"] == 2
    listed, _ = answer(gradtool, model(text), "--params", f"tensor:{glob}")
    assert result in json.dumps(listed["pairs"]) or result in json.dumps(listed["parameters"])


@BOTH
@pytest.mark.parametrize("option", ["--no-grad", "--params"])
def test_a_glob_of_tensors_alone_says_how_to_mean_them(
    text: str, weight: str, result: str, option: str, gradtool: Run, model: Write
) -> None:
    glob = result.replace(".tmp_1", ".tmp_*").replace("_h", "_[h]")
    done = gradtool("backward", model(text), option, glob)
    assert done.code == 2
    assert f"no parameter for {option} matches '{glob}'" in done.err
    assert f"tensor:{glob} matches " in done.err


@BOTH
@pytest.mark.parametrize("name", ["bodi.w", "tensor:bodi.w", "zzz*", "tensor:zzz*"])
def test_unknown_names_have_the_three_closest(
    text: str, weight: str, result: str, name: str, gradtool: Run, model: Write
) -> None:
    done = gradtool("backward", model(text), "--no-grad", name)
    assert done.code == 2
    closest = done.err.partition("closest: ")[2].strip().split(", ")
    assert len(closest) == 3
