"""``profile --fused``: groups with their operators; rounds of loops add up. Nothing depends on how long it takes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from gradtool.engine.answers.fused import StepClock
from gradtool.engine.core.errors import BackendError
from gradtool.engine.kernels.backend import StepDuration
from gradtool.engine.kernels.choice import backend
from gradtool.engine.kernels.numba import hot
from gradtool.engine.kernels.numba.fused import FusedKernel
from tests.cli.conftest import folder, gradtool, model  # noqa: F401

PROGRAM = """
import paddle

paddle.enable_static()
x = paddle.static.data("x", [64, 128], "float32")
h = paddle.tanh(paddle.exp(x) * 0.5)
i = paddle.zeros([1], "int64")
_, h = paddle.static.nn.while_loop(lambda i, h: i < 5, lambda i, h: [i + 1, paddle.tanh(paddle.exp(h)) * 0.5], [i, h])
loss = paddle.mean(h)
"""

PRODUCTS = """
import paddle

paddle.enable_static()
x = paddle.static.data("x", [3, 3], "float32")
loss = paddle.mean(paddle.matmul(paddle.tanh(paddle.matmul(x, x)), x))
"""


def test_calls_of_a_run_add_up_and_runs_before_the_first_repeat_do_not_count() -> None:
    clock = StepClock()
    clock(StepDuration(("a",), 9.0))
    for seconds in (1.0, 3.0, 2.0):
        clock.begin()
        clock(StepDuration(("a",), 0.5))
        for _ in range(2):
            clock(StepDuration(("b", "c"), seconds, 2 * seconds))
    story = clock.story()
    (group,), (alone,) = story.groups, story.alone
    assert (group.members, group.calls, group.seconds, group.apart) == (
        ("b", "c"),
        2,
        [2.0, 6.0, 4.0],
        [4.0, 12.0, 8.0],
    )
    assert (group.median, group.median_apart) == (4.0, 8.0)
    assert (alone.members, alone.seconds, alone.apart) == (("a",), [0.5] * 3, [])
    assert (story.operators, story.repeats, story.why) == (2, 3, "")


def told(gradtool: Any, *words: str) -> dict[str, Any]:  # noqa: F811
    done = gradtool("stats", "--time", "model.py", "--fused", "--format", "json", "-q", *words)
    assert done.code == 0, done.err
    data: dict[str, Any] = json.loads(done.out)
    return data


pytestmark = pytest.mark.usefixtures("nobody_has_chosen")


@pytest.fixture
def program(model: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:  # noqa: F811
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    model(PROGRAM)


@pytest.mark.parametrize("words", [(), ("--backend", "numba")], ids=["nobody has chosen", "numba"])
def test_groups_are_shown_with_their_operators_and_lines(gradtool: Any, program: None, words: Any) -> None:  # noqa: F811
    data = told(gradtool, "--repeats", "3", *words)
    groups = {tuple(op["type"] for op in g["operators"]): g for g in data["groups"]}
    first, inside = groups["exp", "scale", "tanh"], groups["exp", "tanh", "scale", "assign"]
    assert [op["source"] for op in first["operators"]] == ["model.py:6"] * 3
    assert [op["name"] for op in first["operators"]] == ["exp.0", "scale.0", "tanh.0"]
    assert (first["calls"], inside["calls"]) == (1, 5)
    assert {len(g["seconds"]) for g in groups.values()} == {3}
    assert {len(g["one_by_one"]["seconds"]) for g in groups.values()} == {3}
    assert not any(g["given_up"] for g in groups.values())
    assert data["why"] is None
    assert [g["median"] for g in data["groups"]] == sorted((g["median"] for g in data["groups"]), reverse=True)
    shown = gradtool("stats", "--time", "model.py", "--fused", "--top", "1", *words).out
    assert f"1 of {len(groups)} groups · " in shown
    assert shown.count(" operators ") == 2  # of the group, and of all


def test_a_group_that_gave_another_bit_is_said_to_be_given_up(
    gradtool: Any,  # noqa: F811
    program: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = FusedKernel._compare

    def wrong(self: FusedKernel, given: Any, values: Any) -> Any:
        floats = [np.nextafter(v, 9, dtype=v.dtype) if np.asarray(v).dtype.kind == "f" else v for v in given]
        return whole(self, [v if v is None or np.asarray(v).dtype.kind == "f" else ~v for v in floats], values)

    monkeypatch.setattr(FusedKernel, "_compare", wrong)
    assert all(g["given_up"] for g in told(gradtool)["groups"])
    assert "given up" in gradtool("stats", "--time", "model.py", "--fused").out


@pytest.mark.parametrize(
    ("text", "words", "why"),
    [
        (PROGRAM, ("--backend", "numpy"), "backend 'numpy' computes operators one by one"),
        (PRODUCTS, (), "no neighbours among its operators"),
        ("import paddle\nloss = paddle.ones([4]).sum()\n", (), "dynamic mode computes operators one by one"),
    ],
    ids=["reference", "small", "dynamic"],
)
def test_where_nothing_is_fused_it_is_said_why(gradtool: Any, model: Any, text: str, words: Any, why: str) -> None:  # noqa: F811
    model(text)
    data = told(gradtool, *words)
    assert data["groups"] == []
    assert data["why"].startswith(why)
    assert f"nothing is fused: {why}" in gradtool("stats", "--time", "model.py", "--fused", *words).out


def test_what_others_fuse_is_not_seen() -> None:
    assert backend("jax").fusion_obstacle.startswith("backend 'jax' compiles programs as wholes; ")
    with pytest.raises(BackendError, match="computes operators one by one"):
        backend("numpy").time_groups(StepClock())


def test_without_a_compiler_it_is_said_what_to_install(
    gradtool: Any,  # noqa: F811
    program: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hot, "COMPILER", "no_such_compiler")
    assert told(gradtool)["why"] == "Numba is not installed (pip install 'gradtool[numba]')"


@pytest.mark.parametrize("words", [("--by", "op"), ("--flame", "stacks.txt")])
def test_other_rows_are_refused(gradtool: Any, program: None, words: Any) -> None:  # noqa: F811
    done = gradtool("stats", "--time", "model.py", "--fused", *words)
    assert done.code == 2
    assert f"--fused and {words[0]} exclude each other" in done.err
