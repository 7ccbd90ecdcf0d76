"""``paddle.jit``, ``InputSpec`` and ``fleet`` of one process: scripts that use them run, and give the same values."""

from __future__ import annotations

import pytest

from gradtool import paddle
from gradtool.paddle.distributed import fleet

pytestmark = pytest.mark.usefixtures("dynamic")


def test_functions_and_layers_run_as_they_are() -> None:
    @paddle.jit.to_static
    def double(x: paddle.Tensor) -> paddle.Tensor:
        return x * 2

    @paddle.jit.to_static(input_spec=[paddle.static.InputSpec([None], "float32")])
    def triple(x: paddle.Tensor) -> paddle.Tensor:
        return x * 3

    x = paddle.to_tensor([2.0], stop_gradient=False)
    (double(x) * triple(x)).backward()
    assert x.grad.item() == 24.0
    layer = paddle.nn.Linear(2, 1)
    assert paddle.jit.to_static(layer) is layer
    assert paddle.jit.not_to_static(double) is double
    paddle.jit.enable_to_static(True)
    paddle.jit.ignore_module([])


def test_descriptions_of_inputs() -> None:
    spec = paddle.static.InputSpec([None, 3], "float32", "x")
    assert repr(spec) == "InputSpec(shape=(-1, 3), dtype=paddle.float32, name=x, stop_gradient=False)"
    assert spec == paddle.static.InputSpec((-1, 3), paddle.float32, "x")
    assert len({spec, paddle.static.InputSpec([None, 3], "float32", "x")}) == 1
    assert spec.batch(4).shape == (4, -1, 3)
    assert spec.unbatch().unbatch().shape == (3,)
    tensor = paddle.ones([2])
    assert paddle.static.InputSpec.from_tensor(tensor).name == tensor.name
    assert paddle.static.InputSpec.from_numpy(tensor.numpy(), "q").shape == (2,)
    with pytest.raises(TypeError, match="shape is a list or tuple"):
        paddle.static.InputSpec(3)
    with pytest.raises(TypeError, match="whole numbers or None"):
        paddle.static.InputSpec([2.5])
    with pytest.raises(ValueError, match="no dimension"):
        paddle.static.InputSpec([]).unbatch()


def test_one_process_is_all_of_a_fleet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PADDLE_TRAINERS_NUM", raising=False)
    with pytest.warns(UserWarning, match="Currently not a parallel execution environment"):
        fleet.init(is_collective=True, strategy=fleet.DistributedStrategy())
    layer = paddle.nn.Linear(2, 1)
    optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    assert fleet.distributed_model(layer) is layer
    assert fleet.distributed_optimizer(optimizer) is optimizer
    assert (fleet.worker_index(), fleet.worker_num(), fleet.is_first_worker()) == (0, 1, True)
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    with pytest.raises(ValueError, match="2 processes"):
        fleet.init()
