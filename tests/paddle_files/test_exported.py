"""What is written for Paddle: descriptions, values and pickles, read here again and by Python's own reader."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import UnsupportedError
from gradtool.engine.files import messages
from gradtool.engine.ir.paddle.from_desc import from_desc
from gradtool.engine.ir.program import Program
from tests.cli.conftest import Run
from tests.paddle_files import archives, second_order


@pytest.mark.parametrize("name", archives.names("classic_2.6.2"))
def test_description_comes_back(name: str) -> None:
    for file in ("train", "infer"):
        described = from_desc(archives.files("classic_2.6.2")[f"{name}/{file}.pdmodel"])
        data = described.program.to_desc(described.feeds, described.fetches)
        again = from_desc(data)
        assert str(again.program) == str(described.program)
        assert (again.feeds, again.fetches) == (described.feeds, described.fetches)
        assert again.program.to_desc(again.feeds, again.fetches) == data


def test_export_writes_the_backward_part_and_the_values(gradtool: Run, folder: Path) -> None:
    archives.unpacked("classic_3.1.1", "s013_mlp_tanh_sigmoid", folder)
    done = gradtool("export", "infer.pdmodel", "-o", "out.pdmodel")
    assert done.code == 0, done.err
    assert "7 forward ops · 8 backward ops · loss" in done.out or "backward ops · loss" in done.out
    program = Program.parse_from_string((folder / "out.pdmodel").read_bytes())
    assert "fc_0.w_0@GRAD" in program.global_block().vars
    values = pickle.loads((folder / "out.pdparams").read_bytes())
    assert set(values) == {"fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0"}
    own = pickle.loads((folder / "train.pdparams").read_bytes())
    np.testing.assert_array_equal(values["fc_0.w_0"], own["fc_0.w_0"])
    assert gradtool("why", "out.pdmodel").code == 0
    assert gradtool("export", "infer.pdmodel", "-o", "again.pdmodel", "--forward-only").code == 0
    again = Program.parse_from_string((folder / "again.pdmodel").read_bytes())
    assert "fc_0.w_0@GRAD" not in again.global_block().vars


@pytest.mark.parametrize(
    ("words", "said"),
    [([], "needs a file"), (["-o", "net.json"], "is called NAME.pdmodel"), (["-o", ".pdmodel"], "-o NAME")],
)
def test_the_name_says_what_is_written(gradtool: Run, folder: Path, words: list[str], said: str) -> None:
    archives.unpacked("classic_3.1.1", "s013_mlp_tanh_sigmoid", folder)
    done = gradtool("export", "infer.pdmodel", *words)
    assert done.code != 0
    assert said in done.err


def test_a_model_of_dynamic_mode_is_no_program(gradtool: Run, folder: Path) -> None:
    (folder / "model.py").write_text("import paddle\nx = paddle.ones([2])\nx.stop_gradient = False\nloss = x.sum()\n")
    done = gradtool("export", "model.py", "-o", "out.pdmodel")
    assert done.code != 0
    assert "works in dynamic mode" in done.err


@pytest.mark.usefixtures("isolated")
def test_what_paddle_has_not_is_refused() -> None:
    paddle.enable_static()
    x = paddle.static.data("x", [3], "int64")
    paddle.gcd(x, x)
    with pytest.raises(UnsupportedError, match="Paddle has no operator gcd"):
        paddle.static.default_main_program().to_desc()


def test_types_of_attributes_are_those_of_the_registry() -> None:
    described = from_desc(archives.files("classic_3.1.1")["s013_mlp_tanh_sigmoid/train.pdmodel"])
    written = messages.parse("Program", described.program.to_desc(), "f", "w")
    own = messages.parse("Program", archives.files("classic_3.1.1")["s013_mlp_tanh_sigmoid/train.pdmodel"], "f", "w")
    types = [{(op.type, a.name): a.type for op in p.blocks[0].ops for a in op.attrs} for p in (written, own)]
    assert types[0] == {key: kind for key, kind in types[1].items() if key in types[0]}


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_paddle_save_writes_what_paddle_loads(protocol: int) -> None:
    net = paddle.nn.Linear(2, 3)
    file = io.BytesIO()
    paddle.save(net.state_dict(), file, protocol=protocol, format="paddle")
    data = file.getvalue()
    assert b"numpy._core" not in data
    plain = pickle.loads(data)
    assert plain.pop("StructuredToParameterName@@") == {"weight": net.weight.name, "bias": net.bias.name}
    np.testing.assert_array_equal(plain["weight"], net.weight.numpy())
    state = paddle.load(io.BytesIO(data))
    assert (state["weight"] == net.weight).all()
    assert state["weight"].name == net.weight.name


@pytest.mark.usefixtures("dynamic")
def test_nested_objects_are_written_as_paddle_writes_them() -> None:
    tensor = paddle.to_tensor([1.5, 2.0])
    nested: Any = {"a": [tensor, 1, "x"], "b": (None, 2.5), "c": np.arange(3)}
    file = io.BytesIO()
    paddle.save(nested, file, format="paddle")
    plain = pickle.loads(file.getvalue())
    assert plain["a"][0][0] == tensor.name
    np.testing.assert_array_equal(plain["a"][0][1], tensor.numpy())
    assert plain["a"][1:] == [1, "x"]
    assert plain["b"] == (None, 2.5)
    back = paddle.load(io.BytesIO(file.getvalue()))
    assert (back["a"][0] == tensor).all()


@pytest.mark.usefixtures("isolated")
def test_a_program_is_saved_as_a_description(tmp_path: Path) -> None:
    paddle.enable_static()
    x = paddle.static.data("x", [3], "float32")
    paddle.mean(x)
    paddle.save(paddle.static.default_main_program(), str(tmp_path / "net.pdmodel"), format="paddle")
    assert "mean" in str(from_desc((tmp_path / "net.pdmodel").read_bytes()).program)


@pytest.mark.usefixtures("isolated")
@pytest.mark.parametrize(
    ("function", "type_", "inputs", "outputs"),
    [
        (lambda x: paddle.tanh(x), "tanh_grad_grad", ["Out", "grad_out", "grad_x@GRAD"], ["Out@GRAD", "grad_out@GRAD"]),
        (lambda x: paddle.sin(x), "sin_double_grad", ["X", "grad_out", "grad_x@GRAD"], ["X@GRAD", "grad_out@GRAD"]),
        (lambda x: x + x * x, "elementwise_add_grad_grad", ["DDX", "DDY", "DOut", "Y"], ["DDOut"]),
    ],
)
def test_second_order_has_the_slots_of_the_registry(
    function: Any, type_: str, inputs: list[str], outputs: list[str]
) -> None:
    paddle.enable_static()
    x = paddle.static.data("x", [2, 3])
    x.stop_gradient = False
    y = function(x)
    (first,) = paddle.static.gradients([y * y], [x])
    paddle.static.gradients([first * first], [x])
    message = messages.parse("Program", paddle.static.default_main_program().to_desc(), "f", "w")
    written = next(op for op in message.blocks[0].ops if op.type == type_.encode())
    assert sorted(s.parameter.decode() for s in written.inputs) == inputs
    assert sorted(s.parameter.decode() for s in written.outputs) == outputs


@pytest.mark.usefixtures("isolated")
@pytest.mark.parametrize("name", sorted(second_order.functions(paddle)))
def test_gradients_of_gradients_are_written_as_what_paddle_computes(name: str) -> None:
    """The values are those that Paddle computed with the exported programs."""
    paddle.enable_static()
    function, fed = second_order.functions(paddle)[name]
    main, gradients = second_order.program(paddle, name, function)
    described = from_desc(main.to_desc())
    assert not described.absent.reasons
    names = [g.name for g in gradients]
    got = paddle.static.Executor().run(described.program, feed={"x": fed}, fetch_list=names)
    with np.load(archives.SAVED / "second_order_3.1.1.npz") as values:
        np.testing.assert_allclose(np.stack(got), values[name], rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("isolated")
def test_second_order_without_operators_of_paddle_is_refused_with_its_line() -> None:
    paddle.enable_static()
    x = paddle.static.data("x", [1, 2, 4, 4])
    x.stop_gradient = False
    (first,) = paddle.static.gradients([paddle.nn.functional.max_pool2d(x, 2)], [x])
    paddle.static.gradients([first * first * x], [x])
    with pytest.raises(UnsupportedError, match=r"pool2d_grad_grad.*take_largest") as caught:
        paddle.static.default_main_program().to_desc()
    assert "max_pool2d(x, 2)" in str(caught.value)
