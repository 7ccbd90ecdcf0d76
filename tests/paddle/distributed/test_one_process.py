"""What several processes would exchange: one process computes as without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.distributed import fleet
from gradtool.paddle.distributed.fleet import meta_parallel as mp

D = paddle.distributed
pytestmark = pytest.mark.usefixtures("dynamic")


def test_collectives_keep_what_is_here() -> None:
    x, out = paddle.to_tensor([1.0, 2.0]), paddle.zeros([2])
    x.stop_gradient = False
    for done in (D.all_reduce(x), D.broadcast(x, src=0), D.reduce(x, dst=0, op=D.ReduceOp.MAX)):
        assert done.wait()
    several: list[Any] = []
    D.all_gather(several, x)
    D.gather(x, several)
    D.alltoall(several, [x])
    assert [t.tolist() for t in several] == [[1.0, 2.0]] * 3
    assert all(t.stop_gradient for t in several)
    for fill in (
        lambda: D.scatter(out, [x]),
        lambda: D.reduce_scatter(out, [x]),
        lambda: D.alltoall_single(out, x),
    ):
        out.set_value(paddle.zeros([2]))
        fill()
        assert out.tolist() == [1.0, 2.0]
    objects: list[Any] = []
    D.all_gather_object(objects, {"a": 1})
    D.broadcast_object_list(objects)
    D.scatter_object_list(objects, [{"a": 2}])
    assert objects == [{"a": 2}]
    D.barrier()
    D.wait(x)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_groups_hold_this_process() -> None:
    group = D.new_group([0])
    assert (group.rank, group.nranks, group.ranks, group.is_member()) == (0, 1, [0], True)
    assert group.get_group_rank(3) == -1
    assert group.get_global_rank(0) == 0
    assert D.get_group(group.id) is group
    assert D.get_group(0).nranks == D.get_world_size()
    D.destroy_process_group(group)
    assert D.get_group(group.id) is None


def test_a_function_that_is_spawned_runs_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert D.spawn(print, args=("trained", 1), nprocs=1).join()
    assert capsys.readouterr().out == "trained 1\n"


def test_a_mesh_of_one_process_changes_nothing() -> None:
    mesh = D.ProcessMesh([[0]], dim_names=["x", "y"])
    assert (mesh.shape, mesh.ndim, mesh.size, mesh.get_dim_size("y"), mesh.contains(0)) == ([1, 1], 2, 1, 1, True)
    assert mesh == D.ProcessMesh(shape=[1, 1], process_ids=[0])
    D.set_mesh(mesh)
    assert D.get_mesh() is mesh
    placements = [D.Shard(0), D.Replicate(), D.Partial()]
    assert [*map(repr, placements)] == ["Shard(dim=0)", "Replicate()", "Partial(reduce_type=SUM)"]
    assert [p.is_shard() for p in placements] == [True, False, False]
    weight = paddle.nn.Linear(2, 2).weight
    assert D.shard_tensor(weight, mesh, placements[:1]) is weight
    assert D.reshard(weight, mesh, placements[1:2]) is D.unshard_dtensor(weight) is weight
    assert not D.shard_tensor([1.0], mesh, [], stop_gradient=False).stop_gradient
    assert D.dtensor_from_fn(paddle.ones, mesh, [], shape=[2]).tolist() == [1.0, 1.0]
    names: list[str] = []
    layer = D.shard_layer(
        paddle.nn.Sequential(paddle.nn.Linear(2, 2)),
        mesh,
        lambda name, part, _: names.append(name),
        output_fn=lambda out, _: out * 0,
    )
    assert names == ["", "0"]
    assert layer(paddle.ones([1, 2])).tolist() == [[0.0, 0.0]]
    optimizer = paddle.optimizer.SGD(parameters=layer.parameters())
    assert D.shard_optimizer(optimizer, D.ShardingStage1("x", mesh)) is optimizer
    assert D.group_sharded_parallel(layer, optimizer, "os")[:2] == (layer, optimizer)


def test_states_come_back_from_a_folder(tmp_path: Path) -> None:
    layer = paddle.nn.Linear(2, 2)
    before = layer.weight.numpy()
    D.save_state_dict(layer.state_dict(), str(tmp_path))
    layer.weight.set_value(paddle.zeros([2, 2]))
    D.load_state_dict(layer.state_dict(), str(tmp_path))
    np.testing.assert_array_equal(layer.weight.numpy(), before)
    with pytest.raises(ValueError, match="has no other"):
        D.load_state_dict({"other": layer.weight}, str(tmp_path))
    D.save_group_sharded_model(layer, str(tmp_path / "whole"))
    assert (tmp_path / "whole" / "model.pdmodel").exists()


@pytest.mark.filterwarnings("ignore:Currently not a parallel")
def test_a_fleet_of_one() -> None:
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"dp_degree": 1, "mp_degree": 1}
    assert fleet.init(is_collective=True, strategy=strategy) is fleet.fleet
    group = fleet.get_hybrid_communicate_group()
    assert group.get_model_parallel_world_size() == group.get_data_parallel_world_size() == 1
    assert group.get_sharding_parallel_rank() == group.get_stage_id() == 0
    assert group.get_data_parallel_group().nranks == group.topology().world_size() == 1
    assert (fleet.node_num(), fleet.worker_endpoints(), fleet.server_num()) == (1, ["127.0.0.1:6170"], 0)
    assert fleet.util.all_reduce(3) == 3
    layer = paddle.nn.Linear(2, 2)
    assert fleet.distributed_model(layer) is layer
    optimizer = paddle.optimizer.SGD(parameters=layer.parameters())
    strategy.amp = True
    with pytest.warns(UserWarning, match=r"strategy\.amp is kept and not applied"):
        assert fleet.distributed_optimizer(optimizer, strategy) is optimizer


def test_a_strategy_recomputes_static_programs() -> None:
    paddle.enable_static()
    x = paddle.static.data("x", [4, 3])
    h = paddle.static.nn.fc(x, 3, activation="tanh")
    loss = paddle.mean(paddle.static.nn.fc(h, 3, activation="tanh"))
    strategy = fleet.DistributedStrategy()
    strategy.recompute = True
    strategy.recompute_configs = {"checkpoints": [h]}
    fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy).minimize(loss)
    names = [n for op in loss.block.ops for n in op.output_arg_names]
    assert any("subprog" in name for name in names)


def strategy(**settings: Any) -> Any:
    made = fleet.DistributedStrategy()
    for name, value in settings.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: D.send(paddle.ones([1]), 1), ValueError, "there is no other process"),
        (lambda: D.recv(paddle.ones([1]), 1), ValueError, "there is no other process"),
        (lambda: D.isend(paddle.ones([1]), 1), ValueError, "there is no other process"),
        (lambda: D.batch_isend_irecv([D.P2POp(D.irecv, paddle.ones([1]), 1)]), ValueError, "no other process"),
        (lambda: D.P2POp(print, paddle.ones([1]), 1), TypeError, "'print'"),
        (lambda: D.broadcast(paddle.ones([1]), 1), ValueError, "'src' is 1"),
        (lambda: D.scatter(paddle.ones([1]), []), ValueError, "of which there is one, but it has 0"),
        (lambda: D.all_gather(None, paddle.ones([1])), TypeError, "must be a list"),
        (lambda: D.new_group([0, 1]), ValueError, r"\[0, 1\]"),
        (lambda: D.spawn(print, nprocs=2), ValueError, "2 processes"),
        (lambda: D.launch(), ValueError, "gradtool computes in one"),
        (lambda: D.ProcessMesh([0, 1]), ValueError, "it has 2 processes"),
        (lambda: D.ProcessMesh(), ValueError, "must be given"),
        (lambda: D.shard_optimizer(None, gradient_accumulation_steps=2), ValueError, "gradient_accumulation_steps"),
        (lambda: D.group_sharded_parallel(None, None, "x"), ValueError, "os_g"),
        (lambda: D.parallelize(), AttributeError, "several machines or devices"),
        (lambda: fleet.init(strategy=strategy(hybrid_configs={"mp_degree": 2})), ValueError, "mp_degree=2"),
        (lambda: fleet.distributed_optimizer(None, strategy(lamb=True)), ValueError, r"strategy\.lamb"),
        (lambda: strategy(nope=1), TypeError, "nope is not a attribute"),
        (lambda: strategy(amp_configs={"nope": 1}), AssertionError, "key:nope not in amp_configs"),
        (lambda: strategy(amp_configs=3), TypeError, "must be a dict"),
        (lambda: fleet.init_server(), ValueError, "servers"),
        (lambda: fleet.minimize(None), ValueError, "keeps no optimizer"),
        (lambda: fleet.shrink(), AttributeError, "parameter servers"),
        (lambda: mp.PipelineLayer([], num_stages=2), ValueError, "2 stages"),
        (lambda: mp.LayerDesc(print), TypeError, "derived class of Layer"),
        (lambda: mp.PipelineParallel(), AttributeError, "among several devices"),
    ],
)
def test_what_needs_others_says_so(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
