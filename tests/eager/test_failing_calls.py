"""What an operator of dynamic mode raises, and what is said to be its cause."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import LabelError, ShapeError

pytestmark = pytest.mark.usefixtures("dynamic")


@pytest.mark.parametrize("recorded", [False, True])
def test_an_error_of_a_kernel_has_no_other_cause(recorded: bool) -> None:
    table = paddle.to_tensor(np.ones((2, 3)), stop_gradient=not recorded)
    with pytest.raises(LabelError, match="index 7 is out of range") as raised:
        paddle.gather(table, paddle.to_tensor([7]))
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__


@pytest.mark.parametrize("recorded", [False, True])
def test_what_numpy_said_is_the_cause_of_a_clearer_error(recorded: bool) -> None:
    x = paddle.to_tensor(np.ones((2, 3)), stop_gradient=not recorded)
    with pytest.raises(ShapeError, match=r"cannot broadcast X \[2, 3\] with Y \[4\]") as raised:
        paddle.add(x, paddle.to_tensor(np.ones(4)))
    assert isinstance(raised.value.__cause__, ValueError)


@pytest.mark.parametrize("rows", [2, 3, 8])
@pytest.mark.parametrize("label", [3, 5, -2])
def test_a_label_that_is_no_class_is_refused_however_many_rows_there_are(rows: int, label: int) -> None:
    scores = paddle.to_tensor(np.ones((rows, 3)), stop_gradient=False)
    with pytest.raises(LabelError, match=f"label {label} is none of the 3 classes"):
        paddle.nn.functional.cross_entropy(scores, paddle.to_tensor([label, *[0] * (rows - 1)]))
