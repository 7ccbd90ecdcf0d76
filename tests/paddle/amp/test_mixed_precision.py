"""Mixed precision: lists, types, parameters and loss scales as Paddle 3.3.1 has them for accelerators."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.amp import GradScaler, auto_cast, decorate

from . import cases

pytestmark = pytest.mark.usefixtures("dynamic")

RECORDED = json.loads(cases.FILE.read_text(encoding="utf-8"))


def test_lists_are_those_of_paddle() -> None:
    for colour, lists in (("white", paddle.amp.white_list()), ("black", paddle.amp.black_list())):
        ours = {kind: {level: sorted(names) for level, names in levels.items()} for kind, levels in lists.items()}
        assert ours == RECORDED["lists"][colour]


@pytest.mark.parametrize("settings", cases.SETTINGS, ids=cases.named)
def test_types_are_those_of_paddle(settings: dict[str, Any]) -> None:
    x, w, i = paddle.rand([2, 3]), paddle.rand([3, 2]), paddle.zeros([2, 2], "int64")
    calls = cases.functions(paddle, x, w, x.astype("bfloat16"), i)
    recorded = RECORDED["types"][cases.named(settings)]
    ours = cases.kinds(paddle, calls, settings)
    assert {name: ours[name] for name in recorded} == recorded


@pytest.mark.parametrize("name", cases.SCALERS)
@pytest.mark.parametrize("minimizes", [False, True])
def test_scales_move_as_in_paddle(name: str, minimizes: bool) -> None:
    with auto_cast(enable=False):
        pass
    ours = cases.scaling(paddle, GradScaler(**cases.SCALERS[name]), minimizes)
    assert json.loads(json.dumps(ours)) == RECORDED["courses"][f"{name} {minimizes}"]


def test_gradients_have_the_types_of_their_tensors() -> None:
    x, w = paddle.rand([2, 3]), paddle.to_tensor(np.ones([3, 2], "float32"), stop_gradient=False)
    with auto_cast():
        loss = paddle.tanh(x @ w).sum()
        loss.backward()
        assert paddle.amp.is_autocast_enabled()
        with auto_cast(enable=False):
            assert (x @ w).dtype == paddle.float32
        assert (x @ w).dtype == paddle.float16
    assert (x @ w).dtype == paddle.float32
    assert (loss.dtype, w.grad.dtype) == (paddle.float32, paddle.float32)
    exact = paddle.grad(paddle.tanh(x @ w).sum(), w)[0]
    assert np.abs(w.grad.numpy() - exact.numpy()).max() < 1e-2


def test_what_is_computed_again_is_cast_again() -> None:
    net, x = paddle.nn.Linear(3, 3), paddle.rand([2, 3])
    recompute = paddle.distributed.fleet.utils.recompute
    gradients = []
    for run in (lambda v: net(v), lambda v: recompute(net, v, use_reentrant=False)):
        with auto_cast():
            loss = (run(x) @ x.t()).sum()
        loss.backward()
        gradients.append(net.weight.grad.numpy())
        net.clear_gradients()
    assert (gradients[0] == gradients[1]).all()


def test_functions_that_remember_are_cast() -> None:
    x, w = paddle.rand([2, 3]), paddle.rand([3, 2])
    kinds = []
    for enable in (False, True, False):
        with auto_cast(enable=enable):
            kinds += [paddle.nn.functional.linear(x, w).dtype, paddle.einsum("ij,jk->ik", x, w).dtype, x.sum().dtype]
    narrow, wide = paddle.float16, paddle.float32
    assert kinds == [wide] * 3 + [narrow, narrow, wide] + [wide] * 3


def test_a_function_may_be_decorated() -> None:
    @auto_cast(dtype="bfloat16")
    def product(x: Any) -> Any:
        return x @ x

    assert product(paddle.ones([1, 1])).dtype == paddle.bfloat16
    assert paddle.amp.get_autocast_gpu_dtype() == "float16"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"level": "O5"}, "level should be O0, OD, O1 or O2"),
        ({"dtype": "float32"}, "dtype should be 'float16' or 'bfloat16'"),
        ({"custom_white_list": {"exp"}, "custom_black_list": {"exp"}}, "overlap"),
    ],
)
def test_what_auto_cast_refuses(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message), auto_cast(**settings):
        pass


def test_static_mode_has_another_way() -> None:
    paddle.enable_static()
    with pytest.raises(ValueError, match="works in dynamic mode"), auto_cast():
        pass


def test_narrow_parameters_and_their_masters() -> None:
    nn = paddle.nn
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1D(2), nn.LayerNorm(2), nn.GroupNorm(1, 2), nn.Linear(2, 1))
    optimizer = paddle.optimizer.Momentum(1e-5, parameters=net.parameters())
    decorated = decorate(net, optimizer, level="O2", excluded_layers=net[4])
    assert decorated[0] is net
    assert decorated[1] is optimizer
    narrow = {name for name, p in net.named_parameters() if p.dtype == paddle.float16}
    assert narrow == {"0.weight", "0.bias", "3.weight", "3.bias"}
    net[0].weight.set_value(paddle.full([2, 2], 0.5, "float16"))
    before = net[0].weight.numpy()
    for _ in range(3):
        net[0].weight.grad = paddle.ones([2, 2], "float16")
        optimizer.step()
    assert (net[0].weight.numpy() == before).all(), "what is too small for float16 …"
    state = optimizer.state_dict()
    master = state["master_weights"][net[0].weight.name]
    assert np.allclose(master.numpy(), np.float32(0.5) - 1e-5 * (1 + 1.9 + 2.71), atol=1e-7), "… adds up in float32"
    other = paddle.optimizer.Momentum(1e-4, parameters=[net[0].weight], multi_precision=True)
    other.set_state_dict(state)
    assert (other.state_dict()["master_weights"][net[0].weight.name].numpy() == master.numpy()).all()


def test_what_decorate_refuses_and_leaves() -> None:
    layer = paddle.nn.Linear(2, 3)
    assert decorate(layer) is layer
    assert layer.weight.dtype == paddle.float32
    assert decorate([layer], level="O2", dtype="bfloat16", save_dtype="float32") == [layer]
    assert layer.weight.dtype == paddle.bfloat16
    assert layer.state_dict()["weight"].dtype == paddle.float32
    for call, message in (
        (lambda: decorate(layer, level="O0"), "level should be O1 or O2"),
        (lambda: decorate(layer, dtype="int8"), "float16 or bfloat16"),
        (lambda: decorate(3, level="O2"), "models must be either a single model or a list of models"),
        (lambda: decorate(layer, 3, level="O2"), "optimizers must be either"),
        (lambda: decorate(layer, level="O2", excluded_layers=3), "excluded_layers must be either"),
        (lambda: decorate(layer, level="O2", save_dtype="int8"), "save_dtype can only be"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            call()


def test_a_scaler_is_for_float16() -> None:
    with auto_cast(dtype="bfloat16"):
        loss = paddle.ones([1])
    scaler = GradScaler()
    with pytest.warns(UserWarning, match="not recommended to use dynamic loss scaling for bfloat16"):
        assert scaler.scale(loss) is loss
    assert not scaler.is_enable()
    assert scaler.state_dict() == {}


def test_calls_of_a_scaler_in_another_order() -> None:
    w = paddle.to_tensor([1.0], stop_gradient=False)
    optimizer = paddle.optimizer.SGD(1.0, parameters=[w])
    scaler = GradScaler(init_loss_scaling=8.0)
    with auto_cast(enable=False):
        scaler.scale(w * 3).backward()
    scaler.unscale_(optimizer)
    assert w.grad.tolist() == [3.0]
    with pytest.raises(RuntimeError, match="unscale_\\(\\) has already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="step\\(\\) has already been called"):
        scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [-2.0]
    with pytest.raises(RuntimeError, match="state dict is empty"):
        scaler.load_state_dict({})
    scaler.load_state_dict({**scaler.state_dict(), "scale": np.array([4.0], "float32"), "incr_count": 5})
    assert (scaler.state_dict()["scale"].tolist(), scaler.state_dict()["incr_count"]) == ([4.0], 5)


def test_settings_of_a_scaler() -> None:
    scale = GradScaler(incr_ratio=3.0, decr_ratio=0.25, incr_every_n_steps=7, decr_every_n_nan_or_inf=2)
    assert (scale.get_incr_ratio(), scale.get_decr_ratio()) == (3.0, 0.25)
    assert (scale.get_incr_every_n_steps(), scale.get_decr_every_n_nan_or_inf()) == (7, 2)
    assert (scale.is_enable(), scale.is_use_dynamic_loss_scaling(), scale.get_init_loss_scaling()) == (
        True,
        True,
        65536,
    )
    assert paddle.amp.AmpScaler().get_init_loss_scaling() == 32768
    scale.set_incr_ratio(4.0)
    scale.set_decr_ratio(0.1)
    assert (scale.get_incr_ratio(), scale.get_decr_ratio()) == (4.0, 0.1)
    with pytest.raises(AssertionError, match=r"must be > 1\.0"):
        scale.set_incr_ratio(1.0)
    with pytest.raises(AssertionError, match=r"must be < 1\.0"):
        scale.set_decr_ratio(1.0)
    with pytest.raises(AssertionError, match=r"must be > 1\.0"):
        GradScaler(incr_ratio=0.5)
    assert not GradScaler(enable=False).is_enable()
