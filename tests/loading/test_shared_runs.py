"""What a program computes in a run that is made anyway is not computed again for ``why``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradtool.engine.executor.executor import Executor
from gradtool.engine.questions.stats import Stats
from gradtool.engine.questions.why import Why
from gradtool.engine.request.request import Request

MODEL = """
import paddle
paddle.enable_static()
x = paddle.static.data('x', [4, 3])
h = paddle.static.nn.fc(x, 5, name='first')
h = paddle.nn.functional.dropout(h, 0.5)
n = paddle.full([1], 0, 'int32')
def again(n, h):
    return n + 1, paddle.tanh(h) * 0.5
n, h = paddle.static.nn.while_loop(lambda n, h: n < 3, again, [n, h])
dead = paddle.nn.functional.relu(paddle.static.nn.fc(x, 2, name='dead') - 100.0)
loss = paddle.mean(h) + paddle.mean(dead)
"""


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was fetched, run by run; startup programs fetch nothing."""
    fetched = []
    run = Executor.run

    def counted(self: Executor, *args: Any, **named: Any) -> Any:
        if named.get("fetch_list"):
            fetched.append(" ".join(v.name for v in named["fetch_list"]))
        return run(self, *args, **named)

    monkeypatch.setattr(Executor, "run", counted)
    return fetched


@pytest.mark.parametrize("by", ["parameter", "op"])
def test_sizes_and_verdicts_come_of_one_run(tmp_path: Path, runs: list[str], by: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    answer = Stats(by=by).ask(Request(str(path)))
    assert len(runs) == 1
    verdicts = Why().ask(Request(str(path)))
    assert len(runs) == 2
    assert answer.answers == list(verdicts)
    assert [a.label for a in answer.answers] == ["zero: dead relu 100 %"]
    assert bool(answer.story.operators) is (by == "op")


def test_gradients_that_the_loss_contains_keep_their_values(runs: list[str]) -> None:
    """A gradient penalty: operators of a backward part lead to the loss, and ``why`` goes back through them."""
    path = str(Path(__file__).parents[2] / "samples" / "gradient_penalty.py")
    answer = Stats().ask(Request(path))
    assert len(runs) == 1
    assert answer.answers == list(Why().ask(Request(path)))
