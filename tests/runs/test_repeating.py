"""What is repeated is compared with what was recorded before anybody trusts it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.answers import checking
from gradtool.engine.runs import of_tape
from gradtool.engine.runs.recorder import Recorder
from gradtool.engine.runs.repeating import find_unrepeated
from gradtool.engine.runs.timeline import Timeline

pytestmark = pytest.mark.usefixtures("dynamic")


def recorded(compute: Any) -> Timeline:
    recorder = Recorder()
    with recorder.record():
        x = paddle.to_tensor(np.linspace(0.1, 2.0, 12, dtype=np.float32).reshape(3, 4), stop_gradient=False)
        loss = compute(x)
    return of_tape.forward(recorder, loss, [x])


def test_a_run_repeats_itself() -> None:
    run = recorded(lambda x: paddle.nn.functional.softmax(x @ x.T).log().sum() + x.max())
    assert find_unrepeated(run) is None
    assert len(run.repeated) == len(run.entries)


@pytest.mark.parametrize("type_", ["reduce_sum", "elementwise_mul", "transpose2"])
def test_an_operator_that_gives_something_else_is_named(type_: str) -> None:
    run = recorded(lambda x: (x * 3.0 * x).t().sum())
    [entry] = [e for e in run.entries if e.type == type_]
    kernel = entry.kernel
    assert kernel is not None
    entry.kernel = lambda *operands: [np.asarray(r) * 1.001 for r in kernel(*operands)]
    found = find_unrepeated(run)
    assert found is not None
    assert found.entry is entry
    assert str(found).startswith(f"cannot be repeated: {type_} at ")


def test_an_operator_that_raises_is_named() -> None:
    run = recorded(lambda x: (x * x).sum())

    def fail(*operands: Any) -> Any:
        raise IndexError("list index out of range")

    run.entries[0].kernel = fail
    assert "IndexError: list index out of range" in str(find_unrepeated(run))


def test_rounding_is_no_difference() -> None:
    run = recorded(lambda x: (x * 3.0).sum())
    kernel = run.entries[-1].kernel
    assert kernel is not None
    run.entries[-1].kernel = lambda *operands: [np.asarray(r) * np.float32(1 + 3e-7) for r in kernel(*operands)]
    assert find_unrepeated(run) is None


def test_gradients_of_what_is_not_repeated_are_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    with recorder.record():
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        loss = (x * x).sum()
    original = of_tape.forward

    def forward(*args: Any) -> Timeline:
        run = original(*args)
        kernel = run.entries[0].kernel
        assert kernel is not None
        run.entries[0].kernel = lambda *operands: [r * 2 for r in kernel(*operands)]
        return run

    monkeypatch.setattr(of_tape, "forward", forward)
    [entry] = checking.check_loss(loss, recorder, {x: "x"})
    assert entry.status == "unchecked"
    assert entry.cause.startswith("cannot be repeated: elementwise_mul at ")
