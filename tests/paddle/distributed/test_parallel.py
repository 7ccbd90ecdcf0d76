"""One process among one: what it is told, and layers for several processes in it."""

from __future__ import annotations

import pytest

from gradtool import paddle
from gradtool.paddle import distributed

pytestmark = pytest.mark.usefixtures("dynamic")


def test_who_this_process_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (distributed.get_rank(), distributed.get_world_size()) == (0, 1)
    assert (distributed.is_initialized(), distributed.is_available()) == (False, True)
    with pytest.warns(UserWarning, match="will not do anything"):
        distributed.init_parallel_env()
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    monkeypatch.setenv("PADDLE_TRAINER_ENDPOINTS", "a:1,b:2")
    environment = distributed.ParallelEnv()
    assert (environment.rank, environment.local_rank, environment.world_size, environment.nranks) == (1, 1, 2, 2)
    assert (environment.trainer_endpoints, environment.current_endpoint) == (["a:1", "b:2"], "")
    with pytest.raises(ValueError, match="speaks of 2 processes, and gradtool computes in one"):
        distributed.init_parallel_env()


def test_a_layer_for_several_processes_in_one() -> None:
    class Net(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.head = paddle.nn.Linear(2, 3)

        def forward(self, x: paddle.Tensor, *, scale: float = 1.0) -> paddle.Tensor:
            return self.head(x) * scale  # type: ignore[no-any-return]

    net = Net()
    with pytest.warns(UserWarning, match="will return to single-card operation"):
        parallel = paddle.DataParallel(net)
    assert parallel.full_name() == net.full_name() + "_data_parallel_0"
    assert [*parallel.state_dict()] == ["head.weight", "head.bias"]
    assert [name for name, _ in parallel.named_parameters()] == ["_layers.head.weight", "_layers.head.bias"]
    x = paddle.ones([1, 2])
    assert parallel(x, scale=2.0).tolist() == net(x, scale=2.0).tolist()
    with parallel.no_sync():
        assert not parallel.grad_need_sync
        parallel.scale_loss(parallel(x).sum()).backward()
    parallel.apply_collective_grads()
    assert net.head.weight.grad.tolist() == [[1] * 3] * 2
    parallel.set_state_dict({"head.weight": paddle.zeros([2, 3]), "head.bias": paddle.ones([3])})
    assert parallel(x).tolist() == [[1.0] * 3]
    parallel.eval()
    assert not net.training
