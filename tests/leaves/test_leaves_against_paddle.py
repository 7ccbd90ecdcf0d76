"""Each way to make a tensor gives a leaf where Paddle gives one, with Paddle's gradient, and answers see it so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradtool import paddle
from tests.cli.conftest import Run
from tests.leaves.calls import CALLS, HELP, outcome

RECORDED = {
    call: [bool(code) for code in parts["stops, leaf, gradient"][0][2]]
    for call, parts in json.loads(Path(__file__).with_name("values.json").read_text(encoding="utf-8")).items()
}
LEAVES = [call for call, (stops, is_leaf, given) in RECORDED.items() if not stops and is_leaf and given]


@pytest.fixture(autouse=True)
def _dynamic() -> Iterator[None]:
    paddle.disable_static()
    yield
    paddle.enable_static()


def test_every_call_was_recorded() -> None:
    assert set(RECORDED) == set(CALLS)


@pytest.mark.parametrize("call", CALLS)
def test_a_tensor_is_a_leaf_where_it_is_one_in_paddle(call: str) -> None:
    codes = outcome(paddle, call)["stops, leaf, gradient"][0]
    assert [bool(code) for code in codes] == RECORDED[call]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("call", LEAVES)
def test_an_answer_shows_the_gradient_of_a_leaf(gradtool: Run, folder: Path, call: str) -> None:
    (folder / "leaf.py").write_text(f"{HELP}w = {call}\nloss = (w * 3.0).sum()\nloss.backward()\n", "utf-8")
    done = gradtool("why", "w", "leaf.py", "--format", "json")
    (answer,) = json.loads(done.out)["answers"]
    assert answer["verdict"] == "ok"
    assert answer["gradient"]["norm"] > 0
