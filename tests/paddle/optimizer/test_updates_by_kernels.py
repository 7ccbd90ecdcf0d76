"""Small parameters are updated by the kernel itself: to the values, and the writes, of the recorded operator."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.eager.tape import InplaceError
from gradtool.engine.eager.tensor import writes
from gradtool.paddle.optimizer import _steps
from tests.paddle.optimizer.test_blocks import RULES, arrays, trained

pytestmark = pytest.mark.usefixtures("dynamic")


@pytest.mark.parametrize("name", RULES)
def test_values_and_writes_are_those_of_the_operator(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    direct = trained(RULES[name])
    monkeypatch.setattr(_steps, "updated", lambda *_: False)
    recorded = trained(RULES[name])
    for a, b in zip(arrays(*direct), arrays(*recorded), strict=True):
        np.testing.assert_array_equal(a, b)
    assert direct[0].inplace_version == recorded[0].inplace_version > 0


def test_nothing_is_recorded_for_an_ordinary_update(monkeypatch: pytest.MonkeyPatch) -> None:
    p = paddle.create_parameter([2], "float32")
    optimizer = paddle.optimizer.Adam(0.1, parameters=[p])
    p.sum().backward()
    monkeypatch.setattr(_steps, "_new_values", None)
    guarded = writes.set(None)  # a guard of runs that were recorded here stays for as long as the process
    optimizer.step()
    writes.reset(guarded)


def test_a_value_that_backward_needs_and_a_step_overwrites_is_told_with_its_line() -> None:
    p = paddle.create_parameter([2], "float32")
    optimizer = paddle.optimizer.SGD(0.1, parameters=[p])
    loss = (p * p).sum()
    p.sum().backward()
    optimizer.step()
    with pytest.raises(InplaceError, match="sgd") as error:
        loss.backward()
    assert str(error.value).count("optimizer.step()") == 1


def test_arrays_that_cannot_be_written_are_replaced() -> None:
    p = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    optimizer = paddle.optimizer.SGD(0.5, parameters=[p])
    p.sum().backward()
    array = p.array
    array.flags.writeable = False
    optimizer.step()
    assert array.tolist() == [1.0, 1.0]
    assert p.tolist() == [0.5, 0.5]
