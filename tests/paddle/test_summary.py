"""``paddle.summary``: the text and the counts of Paddle 3.3.1."""

from __future__ import annotations

from typing import Any

import pytest

from gradtool import paddle
from gradtool.paddle import nn

pytestmark = pytest.mark.usefixtures("dynamic", "fresh_names")


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(1, 4, 3)
        self.bn = nn.BatchNorm2D(4)
        self.head = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        self.head[0].weight.stop_gradient = True
        self.free = self.create_parameter([5])

    def forward(self, x: Any) -> Any:
        return self.head(self.bn(self.conv(x)).mean([2, 3]))


TABLE = """\
---------------------------------------------------------------------------
 Layer (type)       Input Shape          Output Shape         Param #
===========================================================================
   Conv2D-1        [[1, 1, 6, 6]]        [1, 4, 4, 4]           40
 BatchNorm2D-1     [[1, 4, 4, 4]]        [1, 4, 4, 4]           16
   Linear-1           [[1, 4]]              [1, 8]              40
    ReLU-1            [[1, 8]]              [1, 8]               0
   Linear-2           [[1, 8]]              [1, 2]              18
===========================================================================
Total params: 114
Trainable params: 74
Non-trainable params: 40
---------------------------------------------------------------------------
Input size (MB): 0.00
Forward/backward pass size (MB): 0.00
Params size (MB): 0.00
Estimated Total Size (MB): 0.00
---------------------------------------------------------------------------

"""


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    net = Net()
    counts = paddle.summary(net, (1, 1, 6, 6))
    assert [line.rstrip() for line in capsys.readouterr().out.split("\n")] == TABLE.split("\n")
    assert counts == {"total_params": 114, "trainable_params": 74}
    assert net.training


def test_several_inputs_and_recurrent_layers(capsys: pytest.CaptureFixture[str]) -> None:
    class Two(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.enter = nn.Linear(2, 3)
            self.walk = nn.LSTM(3, 4)

        def forward(self, x: Any, y: Any) -> Any:
            return self.walk(self.enter(x) + y)

    assert paddle.summary(Two(), [(None, 5, 2), (-1, 5, 3)], dtypes=["float32", "float32"])["total_params"] == 153
    row = "    LSTM-1          [[1, 5, 3]]      [[1, 5, 4], [[1, 1, 4], [1, 1, 4]]]       144      "
    assert row in capsys.readouterr().out.splitlines()


def test_inputs_may_be_given_and_large_numbers_have_commas(capsys: pytest.CaptureFixture[str]) -> None:
    shared = nn.Linear(1000, 1000)
    assert paddle.summary(nn.Sequential(shared, shared), input=paddle.ones([2, 1000]))["total_params"] == 1001000
    out = capsys.readouterr().out
    assert out.count("Linear-1 ") == 1, "once, though it is called twice"
    assert "Total params: 1,001,000\n" in out
    assert "Params size (MB): 3.82\n" in out


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match="cannot be None at the same time"):
        paddle.summary(nn.Linear(2, 3))
    with pytest.raises(ValueError, match="greater than zero, but got -5"):
        paddle.summary(nn.Linear(2, 3), (2, -5))
    with pytest.raises(TypeError, match="must be Layer"):
        paddle.summary(3, (2,))
