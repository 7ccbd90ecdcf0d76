"""Names that are not there: the error says which part of Paddle they are of, or which name is really near."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.core.errors import NotImplementedHere
from gradtool.paddle import _absent
from gradtool.paddle._alias import active
from gradtool.paddle._recorded import NotHere


def _missing_in(value: Any) -> Any:
    """The first name that is missing in a module, or in a module of it."""
    if not isinstance(value, ModuleType):
        return value
    members = [getattr(value, n) for n in dir(value) if not n.startswith("_")]
    modules = [m for m in members if isinstance(m, ModuleType) and m.__name__.startswith(value.__name__)]
    return next((m for m in members if isinstance(m, NotHere)), None) or _missing_in(modules[0])


@pytest.mark.parametrize("part", _absent.PARTS)
def test_parts_that_are_said_to_be_missing_are(part: str) -> None:
    parent, _, name = part.rpartition(".")
    owner = importlib.import_module(f"gradtool.{parent}")
    with pytest.raises(NotImplementedHere, match="a part of Paddle that gradtool does not have") as caught:
        _missing_in(getattr(owner, name))()
    assert caught.value.hint == _absent.PARTS[part][1]


@pytest.mark.parametrize(
    "statement",
    [
        "import paddle.inference as I; I.Config()",
        "from paddle.quantization import QAT; QAT(None)",
        "from paddle import tensorrt",
    ],
)
def test_uses_of_a_part_say_the_same(statement: str) -> None:
    error = r"paddle\.[\w.]+ is not implemented in gradtool: .*is a part of Paddle"
    with active(), pytest.raises((ImportError, NotImplementedHere), match=error):
        exec(statement)


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("jit.foo", None),
        ("jitt", "did you mean 'jit'?"),
        ("nn.Linera", "did you mean 'Linear'?"),
        ("nn.functional.relue", "did you mean 'relu', 'prelu', 'relu6'?"),
        ("optimizer.Adamm", "did you mean 'Adam', 'AdamW', 'NAdam'?"),
        ("static.xyz", None),
    ],
)
def test_names_are_proposed_when_they_are_near(path: str, hint: str | None) -> None:
    parent, _, name = path.rpartition(".")
    owner = importlib.import_module(f"gradtool.paddle.{parent}".rstrip("."))
    with pytest.raises(NotImplementedHere, match=rf"paddle\.{path} is not implemented in gradtool") as caught:
        getattr(owner, name)
    assert caught.value.hint == hint


def test_models_may_import_what_paddle_hides() -> None:
    from gradtool.paddle.io.dataloader.collate import default_collate_fn
    from gradtool.paddle.nn.functional.conv import _conv_nd
    from gradtool.paddle.nn.layer.conv import _ConvNd
    from gradtool.paddle.nn.layer.norm import _BatchNormBase, _InstanceNormBase
    from gradtool.paddle.nn.layer.transformer import _convert_attention_mask, _convert_param_attr_to_list

    nn = paddle.nn
    paddle.disable_static()
    try:
        layer = nn.Conv2D(2, 3, 3, padding="SAME")
        assert isinstance(layer, _ConvNd)
        assert isinstance(nn.Conv1DTranspose(2, 3, 3), _ConvNd)
        assert isinstance(nn.SyncBatchNorm(2), _BatchNormBase)
        assert isinstance(nn.InstanceNorm1D(2), _InstanceNormBase)
        x = paddle.ones([1, 2, 4, 4])
        out = _conv_nd(
            x,
            layer.weight,
            layer.bias,
            layer._stride,
            layer._updated_padding,
            layer._padding_algorithm,
            layer._dilation,
            layer._groups,
            layer._data_format,
            layer._channel_dim,
            layer._op_type,
            layer._use_cudnn,
        )
        assert out.tolist() == layer(x).tolist()
        mask = _convert_attention_mask(paddle.to_tensor([True, False]), "float32")
        assert mask.tolist() == [0.0, -1e9]
        first, second = _convert_param_attr_to_list(paddle.ParamAttr(name="w"), 2)
        assert (first.name, second.name) == ("w_0", "w_1")
        assert default_collate_fn([(1.0, 2), (3.0, 4)])[1].tolist() == [2, 4]
    finally:
        paddle.enable_static()
    assert paddle.nn.functional.loss.cross_entropy is paddle.nn.functional.cross_entropy
    assert "_ConvNd" not in dir(paddle.nn.layer.conv)


def test_functions_of_users_check_their_arguments() -> None:
    from gradtool.paddle.base.data_feeder import check_dtype, check_type, check_variable_and_dtype, convert_dtype

    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [2], "int64")
        check_variable_and_dtype(x, "x", ["int64"], "own")
        check_type(1, "n", (int, float), "own")
        assert convert_dtype(x.dtype) == "int64"
        with pytest.raises(TypeError, match=r"The data type of 'x' in own must be .'float32'., but received int64"):
            check_variable_and_dtype(x, "x", ["float32"], "own")
        with pytest.raises(TypeError, match="The type of 'n' in own must be <class 'str'>, but received <class 'int'>"):
            check_type(1, "n", str, "own")
        with pytest.raises(TypeError, match="The type of 'x' in own must be"):
            check_variable_and_dtype([1.0], "x", ["float32"], "own")
    paddle.disable_static()
    check_dtype("int64", "x", ["float32"], "own")
    check_type(1, "n", str, "own")
    paddle.enable_static()
