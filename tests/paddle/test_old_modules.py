"""Names in the modules that Paddle defines them in, and that scripts import them from."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import _names_modules, nn


@pytest.mark.parametrize("module", _names_modules.LAYERS)
def test_layers_are_in_the_modules_of_paddle(module: str) -> None:
    home = importlib.import_module(f"gradtool.paddle.nn.layer.{module}")
    for name in _names_modules.LAYERS[module].split():
        assert getattr(home, name) is getattr(nn, name) is getattr(paddle.nn.layer, name)


def test_other_modules_have_what_scripts_import() -> None:
    from gradtool.paddle.autograd.py_layer import PyLayer
    from gradtool.paddle.base.dygraph import base, guard, no_grad, to_variable
    from gradtool.paddle.base.dygraph.base import switch_to_static_graph
    from gradtool.paddle.common_ops_import import ParamAttr, Variable
    from gradtool.paddle.framework import random

    assert PyLayer is paddle.autograd.PyLayer
    assert (base.guard, base.no_grad, base.to_variable) == (guard, no_grad, to_variable)
    assert (ParamAttr, Variable, random.seed) == (paddle.ParamAttr, paddle.static.Variable, paddle.seed)
    paddle.disable_static()
    assert switch_to_static_graph(paddle.in_dynamic_mode)() is False
    assert paddle.in_dynamic_mode()
    with pytest.raises(
        AttributeError, match="OpProtoHolder is not implemented in gradtool: it is for writing new operators"
    ):
        paddle.common_ops_import.OpProtoHolder.instance()


def test_decorators_keep_names() -> None:
    from gradtool.paddle.base.wrapped_decorator import signature_safe_contextmanager, wrap_decorator

    @wrap_decorator
    def twice(function: Any) -> Any:
        return lambda: 2 * function()

    @twice
    def one() -> int:
        """One."""
        return 1

    @signature_safe_contextmanager
    def giving() -> Any:
        yield 3

    assert (one(), one.__name__, one.__doc__) == (2, "one", "One.")
    with giving() as value:
        assert value == 3


def test_modules_of_layers_that_are_reached_from_nn() -> None:
    assert paddle.nn.loss.MSELoss is nn.MSELoss
    assert paddle.nn.decode.dynamic_decode is nn.dynamic_decode
    assert paddle.nn.clip.ClipGradByNorm is nn.ClipGradByNorm


def test_everything_can_be_imported_with_a_star() -> None:
    space: dict[str, Any] = {}
    exec("from gradtool.paddle.nn.layer.norm import *\nfrom gradtool.paddle.io import *", space)
    assert space["LayerNorm"] is nn.LayerNorm
    assert space["DataLoader"] is paddle.io.DataLoader


def test_the_version_is_that_whose_behaviour_this_is(capsys: pytest.CaptureFixture[str]) -> None:
    version = paddle.version
    assert (version.full_version, version.major, version.minor, version.patch) == ("3.3.1", "3", "3", "1")
    assert (version.cuda(), version.cudnn(), version.nccl(), version.tensorrt()) == ("False", "False", "0", "None")
    version.show()
    assert capsys.readouterr().out.splitlines()[0] == "full_version: 3.3.1"


def test_types_are_numbers_and_attributes_of_operators() -> None:
    assert int(paddle.base.core.VarDesc.VarType.INT32) == 2
    block = paddle.static.default_main_program().global_block()
    out = block.create_var(name="out", shape=[2], dtype="float32")
    operator = block.append_op(
        type="fill_constant", outputs={"Out": [out]}, attrs={"shape": [2], "dtype": paddle.float32, "value": 1.0}
    )
    assert operator.attr("dtype") == int(paddle.float32)
    assert block.create_parameter(name="p", shape=[2], dtype="float32", lod_level=0).name == "p"


def test_what_attributes_of_layers_stand_for() -> None:
    convert = paddle.ParamAttr._to_attr
    assert convert(False) is False
    assert (convert("name").name, [a.name for a in convert([None, "b"])]) == ("name", [None, "b"])
    start = nn.initializer.Constant(1.0)
    assert convert(start).initializer is start
    settings = paddle.ParamAttr(name="a", learning_rate=0.5, trainable=False, initializer=start)._to_kwargs(True)
    assert (settings["optimize_attr"], settings["trainable"]) == ({"learning_rate": 0.5}, False)
    assert settings["initializer"] is start
    with pytest.raises(TypeError, match="cast to ParamAttr"):
        convert(3)


@pytest.mark.usefixtures("dynamic")
def test_parameters_carry_what_users_note() -> None:
    weight = nn.Linear(2, 2).weight
    weight.color = "blue"
    assert weight.color == "blue"
    assert weight.block.idx == 0
    start = nn.initializer.Assign(paddle.to_tensor([[1.0, 2.0]]))
    assert nn.Linear(1, 2, weight_attr=start).weight.tolist() == [[1.0, 2.0]]


@pytest.mark.usefixtures("dynamic")
def test_losses_take_operands_by_name() -> None:
    ones = paddle.ones([2])
    loss = nn.MarginRankingLoss(margin=0.5)
    assert loss(input=ones, other=ones * 2, label=ones).item() == loss(ones, ones * 2, ones).item() == 1.5


@pytest.mark.usefixtures("dynamic")
def test_tensors_stand_for_axes_and_other_numbers() -> None:
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 5.0]])
    for axis in (0, 1, 0):
        number = paddle.to_tensor(axis)
        assert paddle.sum(x, axis=number).tolist() == x.numpy().sum(axis).tolist(), "also after another value"
        assert paddle.argmax(x, axis=number).tolist() == x.numpy().argmax(axis).tolist()
        assert paddle.cumsum(x, axis=number).tolist() == x.numpy().cumsum(axis).tolist()
    assert paddle.sum(x, axis=paddle.to_tensor([0, 1])).item() == 11
    assert paddle.squeeze(x.reshape([1, 4]), axis=paddle.to_tensor(0)).shape == [4]
    assert paddle.norm(x, p=paddle.to_tensor(1.0)).item() == 11
    assert paddle.nn.functional.dropout(x, p=paddle.to_tensor(1.0)).tolist() == [[0, 0], [0, 0]]


@pytest.mark.usefixtures("dynamic")
def test_a_group_of_parameters_has_its_own_momentum() -> None:
    def trained(group: dict[str, Any], momentum: float) -> Any:
        weight = nn.Linear(1, 1, weight_attr=nn.initializer.Constant(1.0), bias_attr=False).weight
        optimizer = paddle.optimizer.Momentum(0.1, momentum, parameters=[{"params": [weight], **group}])
        for _ in range(3):
            (weight * 2).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
        return np.float32(weight.item())

    assert trained({"momentum": 0.5}, 0.9) == trained({}, 0.5) != trained({}, 0.9)


@pytest.mark.usefixtures("dynamic")
def test_layers_keep_what_subclasses_read() -> None:
    table = nn.Embedding(4, 3, padding_idx=-1)
    assert (table._num_embeddings, table._embedding_dim, table._size, table._padding_idx) == (4, 3, [4, 3], -1)
    assert nn.Embedding(4, 3)._padding_idx is None
    for layer in (nn.Linear(2, 2, bias_attr=False), nn.LayerNorm(2, bias_attr=False)):
        assert (layer._weight_attr, layer._bias_attr) == (None, False)
