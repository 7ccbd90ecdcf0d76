"""Mixed precision on the CPU: arguments are checked, and it has no effect, with a warning, as in Paddle 3.3.1."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool as paddle
from gradtool.amp import GradScaler, auto_cast, decorate

pytestmark = pytest.mark.usefixtures("dynamic")


@pytest.mark.parametrize("settings", [{}, {"dtype": "bfloat16"}, {"level": "O2"}, {"dtype": paddle.bfloat16}])
def test_nothing_is_cast(settings: dict[str, Any]) -> None:
    layer = paddle.nn.Linear(2, 3)

    def narrow() -> Any:
        with auto_cast(**settings):
            return layer(paddle.ones([1, 2])).sum()

    with pytest.warns(UserWarning, match="so it makes no effect") as warned:
        loss = narrow()
    assert warned[0].filename == __file__
    loss.backward()
    assert (loss.dtype, layer.weight.grad.dtype) == (paddle.float32, paddle.float32)


def test_what_is_off_says_nothing() -> None:
    with auto_cast(enable=False), auto_cast(level="O0"), paddle.autocast("cpu", enabled=False):
        assert not paddle.amp.is_autocast_enabled()


def test_a_function_may_be_decorated() -> None:
    @auto_cast(enable=False)
    def double(x: Any) -> Any:
        return x + x

    assert double(paddle.ones([1])).item() == 2


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


def test_decorated_models_stay_as_they_are() -> None:
    layer = paddle.nn.Linear(2, 3)
    optimizer = paddle.optimizer.SGD(parameters=layer.parameters())
    assert decorate(layer, level="O2") is layer
    assert decorate([layer], optimizer, dtype="bfloat16") == ([layer], optimizer)
    assert layer.weight.dtype == paddle.float32
    with pytest.raises(ValueError, match="level should be O1 or O2"):
        decorate(layer, level="O0")
    with pytest.raises(ValueError, match="float16 or bfloat16"):
        decorate(layer, dtype="int8")


def scaler(**settings: Any) -> GradScaler:
    with pytest.warns(UserWarning, match="AmpScaler can only be enabled"):
        return GradScaler(**settings)


def test_a_scaler_leaves_loss_and_gradients_alone() -> None:
    layer = paddle.nn.Linear(2, 1, bias_attr=False)
    optimizer = paddle.optimizer.SGD(1.0, parameters=layer.parameters())
    before = layer.weight.numpy()
    scale = scaler(init_loss_scaling=8.0)
    loss = layer(paddle.ones([1, 2])).sum()
    assert scale.scale(loss) is loss
    scale.scale(loss).backward()
    scale.unscale_(optimizer)
    assert layer.weight.grad.tolist() == [[1], [1]]
    scale.step(optimizer)
    scale.update()
    assert (before - layer.weight.numpy()).ravel().tolist() == pytest.approx([1, 1])
    pairs = scale.minimize(optimizer, loss)[1]
    assert [p.name for p, _ in pairs] == [layer.weight.name]
    scale.load_state_dict({"scale": 3})
    assert scale.state_dict() == {}


def test_settings_of_a_scaler() -> None:
    scale = scaler(incr_ratio=3.0, decr_ratio=0.25, incr_every_n_steps=7, decr_every_n_nan_or_inf=2)
    assert (scale.get_incr_ratio(), scale.get_decr_ratio()) == (3.0, 0.25)
    assert (scale.get_incr_every_n_steps(), scale.get_decr_every_n_nan_or_inf()) == (7, 2)
    assert (scale.is_enable(), scale.is_use_dynamic_loss_scaling(), scale.get_init_loss_scaling()) == (False, False, 1)
    scale.set_incr_ratio(4.0)
    scale.set_decr_ratio(0.1)
    assert (scale.get_incr_ratio(), scale.get_decr_ratio()) == (4.0, 0.1)
    with pytest.raises(AssertionError, match=r"must be > 1\.0"):
        scale.set_incr_ratio(1.0)
    with pytest.raises(AssertionError, match=r"must be < 1\.0"):
        scale.set_decr_ratio(1.0)
    assert not GradScaler(enable=False).is_enable(), "without a warning"
