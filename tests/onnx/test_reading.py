"""ONNX files as programs: names, sources, constants, what is lacking, losses, and files that are refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from gradtool import paddle
from gradtool.engine.core import source
from gradtool.engine.core.errors import FileFormatError, UnsupportedError, UsageError
from gradtool.engine.core.notes import Notes
from gradtool.engine.executor.scope import Scope, global_scope, scope_guard
from gradtool.engine.importers import Imported
from gradtool.engine.importers.onnx import reading
from gradtool.engine.ir.program import Program
from gradtool.engine.questions.backward import Backward
from gradtool.engine.request.request import Request
from gradtool.paddle.utils import unique_name
from tests.onnx.models import info, mlp, model, node, saved, weights


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    with scope_guard(Scope()), unique_name.guard():
        yield
    paddle.disable_static()


def read(content: Any, folder: Path = Path()) -> Imported:
    data = content if isinstance(content, bytes) else content.SerializeToString()
    return reading.read(data, "model.onnx", folder)


def run(program: Imported, **feed: Any) -> list[Any]:
    paddle.enable_static()
    return paddle.static.Executor().run(program.program, feed=feed, fetch_list=list(program.outputs))  # type: ignore[no-any-return]


def types(program: Program) -> list[str]:
    return [op.type for op in program.global_block().ops]


# -- names and sources ------------------------------------------------------------------------------------------------


def test_initializers_are_parameters_with_their_names() -> None:
    result = read(mlp())
    assert [p.name for p in result.program.all_parameters()] == ["w0", "b0", "w1", "b1"]
    assert result.outputs == ("scores",)
    assert types(result.program) == ["matmul_v2", "elementwise_add", "relu", "matmul_v2", "elementwise_add"]
    assert result.program.global_block().vars["x"].shape == (-1, 4)
    np.testing.assert_array_equal(global_scope().values["w0"], weights(5, 4))
    x = weights(2, 4, seed=9)
    hidden = np.maximum(x @ weights(5, 4).T + weights(5, seed=1), 0)
    (scores,) = run(result, x=x)
    np.testing.assert_allclose(scores, hidden @ weights(5, 3, seed=2) + weights(3, seed=3), rtol=1e-5)


def test_names_of_nodes_are_layers_and_the_node_is_the_source() -> None:
    op = read(mlp()).program.global_block().ops[2]
    assert op.scope == "/first/"
    assert source.describe(op.loc) == "model.onnx:2 in /first/Relu:  a = Relu(h)"


@pytest.mark.parametrize("where", ["metadata", "doc"])
def test_the_lines_that_an_exporter_wrote_are_the_source(where: str) -> None:
    content = mlp()
    if where == "doc":
        content.graph.node[
            1
        ].doc_string = "/usr/lib/site-packages/torch/nn/functional.py(7): relu\n/home/me/net.py(12): forward\n"
    else:
        stack = 'File "/home/me/net.py", line 12, in forward\n    a = relu(h)\n'
        content.graph.node[1].metadata_props.add(key="pkg.torch.onnx.stack_trace", value=stack)
    op = read(content).program.global_block().ops[2]
    assert source.short(op.loc) == "net.py:12"
    assert next(source.frames(op.loc)) == ("net.py", 12, "forward")


# -- constants and shapes ---------------------------------------------------------------------------------------------


def test_a_shape_that_is_computed_from_shapes_becomes_an_attribute() -> None:
    content = model(
        [
            node("Shape", "x", "s"),
            node("Gather", "s zero", "n", axis=0),
            node("Unsqueeze", "n axes", "n1"),
            node("Concat", "n1 rest", "wanted", axis=0),
            node("Reshape", "x wanted", "y"),
        ],
        {"x": ["n", 3, 4]},
        ["y"],
        {"zero": np.int64(0), "axes": np.asarray([0]), "rest": np.asarray([12])},
    )
    result = read(content)
    assert types(result.program) == ["reshape2"]
    assert result.program.global_block().ops[0].attrs["shape"] == (-1, 12)
    assert run(result, x=weights(5, 3, 4))[0].shape == (5, 12)


def test_two_sizes_that_are_not_known_are_computed() -> None:
    content = model(
        [
            node("Shape", "x", "s"),
            node("Slice", "s from to", "outer"),
            node("Concat", "outer split", "wanted", axis=0),
            node("Reshape", "x wanted", "y"),
        ],
        {"x": ["n", "t", 6]},
        ["y"],
        {"from": np.asarray([0]), "to": np.asarray([2]), "split": np.asarray([2, 3])},
    )
    result = read(content)
    assert result.program.global_block().vars["y"].shape == (-1, -1, 2, 3)
    assert run(result, x=weights(4, 5, 6))[0].shape == (4, 5, 2, 3)


def test_constants_are_folded_and_shared_weights_keep_their_name() -> None:
    content = model(
        [
            node("Constant", "", "two", value=numpy_helper.from_array(np.float32(2))),
            node("Sqrt", "two", "root"),
            node("Identity", "w", "same"),
            node("MatMul", "x same", "m"),
            node("Mul", "m root", "y"),
        ],
        {"x": [2, 3]},
        ["y"],
        {"w": weights(3, 3)},
    )
    result = read(content)
    assert types(result.program) == ["matmul_v2", "elementwise_mul"]
    assert [p.name for p in result.program.all_parameters()] == ["w"]
    np.testing.assert_allclose(
        run(result, x=weights(2, 3, seed=1))[0], weights(2, 3, seed=1) @ weights(3, 3) * np.sqrt(2), rtol=1e-5
    )


def test_what_a_batch_normalization_remembers_is_no_parameter() -> None:
    values = {"s": weights(3), "b": weights(3), "m": weights(3), "v": np.ones(3, "float32")}
    result = read(model([node("BatchNormalization", "x s b m v", "y")], {"x": [2, 3, 4, 4]}, ["y"], values))
    assert [p.name for p in result.program.all_parameters()] == ["s", "b"]
    held = result.program.global_block().vars["m"]
    assert held.persistable
    assert held.stop_gradient


# -- what is lacking --------------------------------------------------------------------------------------------------


def test_operators_that_are_lacking_are_told_all_at_once_and_stand_in() -> None:
    content = model(
        [
            node("Relu", "x", "h"),
            helper.make_node("Magic", ["h"], ["m"], name="trick", domain="my.own"),
            node("StringNormalizer", "x", "s"),
            node("Add", "m w", "y"),
        ],
        {"x": [2, 3]},
        ["y"],
        {"w": weights(2, 3)},
    )
    content.opset_import.append(helper.make_opsetid("my.own", 1))
    result = read(content)
    op = result.program.global_block().ops[1]
    assert op.op.absent.texts() == [  # type: ignore[attr-defined]
        "Magic trick at model.onnx:2 (of the domain my.own)",
        "StringNormalizer at model.onnx:3",
    ]
    with pytest.raises(UnsupportedError, match="gradtool does not have 2 of its operators: Magic trick"):
        run(result, x=weights(2, 3))


def test_functions_are_inlined() -> None:
    function = helper.make_function(
        "my.own", "Twice", ["a"], ["b"], [node("Add", "a a", "b")], [helper.make_opsetid("", 17)]
    )
    content = model(
        [helper.make_node("Twice", ["x"], ["y"], domain="my.own"), node("Celu", "y", "z", alpha=2.0)],
        {"x": [2]},
        ["z"],
        functions=[function],
    )
    content.opset_import.append(helper.make_opsetid("my.own", 1))
    (z,) = run(read(content), x=np.asarray([-1, 1], "float32"))
    np.testing.assert_allclose(z, [2 * np.expm1(-1), 2], rtol=1e-6)


# -- branches, loops, quantization ------------------------------------------------------------------------------------


def _graph(nodes: list[Any], inputs: list[Any], outputs: list[str]) -> Any:
    return helper.make_graph(nodes, "inner", inputs, [helper.make_empty_tensor_value_info(n) for n in outputs])


def _counted() -> Any:
    """``for i in range(3): h = tanh(h @ w)``, and every h."""
    body = _graph(
        [node("MatMul", "h w", "m"), node("Tanh", "m", "g"), node("Identity", "go", "on")],
        [info("i", [], TensorProto.INT64), info("go", [], TensorProto.BOOL), info("h", [2, 3])],
        ["on", "g", "g"],
    )
    return model(
        [node("Loop", "three - x", "last every", body=body)],
        {"x": [2, 3]},
        ["last", "every"],
        {"three": np.int64(3), "w": weights(3, 3)},
    )


def test_a_loop_of_counted_rounds_is_unrolled() -> None:
    result = read(_counted())
    assert types(result.program) == ["matmul_v2", "tanh"] * 3 + ["stack"]
    h, every = weights(2, 3, seed=1), []
    for _ in range(3):
        h = np.tanh(h @ weights(3, 3))
        every.append(h)
    last, together = run(result, x=weights(2, 3, seed=1))
    np.testing.assert_allclose(last, h, rtol=1e-5)
    np.testing.assert_allclose(together, every, rtol=1e-5)


def test_a_loop_of_computed_rounds_is_a_while_and_has_gradients() -> None:
    body = _graph(
        [node("Mul", "h w", "g"), node("ReduceSum", "g", "sum", keepdims=0), node("Less", "sum limit", "on")],
        [info("i", [], TensorProto.INT64), info("go", [], TensorProto.BOOL), info("h", [2])],
        ["on", "g"],
    )
    content = model(
        [node("Loop", "- yes x", "y", body=body)],
        {"x": [2]},
        ["y"],
        {"w": np.asarray([2, 3], "float32"), "limit": np.float32(20), "yes": np.asarray(True)},
    )
    result = read(content)
    assert "while" in types(result.program)
    paddle.enable_static()
    block = result.program.global_block()
    with paddle.static.program_guard(result.program):
        loss = paddle.sum(block.vars["y"])
        (pair,) = paddle.static.append_backward(loss, parameter_list=[block.vars["w"]])
    y, slope = paddle.static.Executor().run(
        result.program, feed={"x": np.ones(2, "float32")}, fetch_list=[result.outputs[0], pair[1]]
    )
    np.testing.assert_allclose(y, [8, 27])
    np.testing.assert_allclose(slope, [3 * 4, 3 * 9])


@pytest.mark.parametrize("rounds", [1, 4])
def test_what_the_rounds_of_a_while_give_is_put_together_and_has_gradients(rounds: int) -> None:
    body = _graph(
        [
            node("Mul", "h w", "g"),
            node("ReduceSum", "g", "sum", keepdims=0),
            node("Cast", "i", "number", to=TensorProto.INT32),
            node("Identity", "go", "on"),
        ],
        [info("i", [], TensorProto.INT64), info("go", [], TensorProto.BOOL), info("h", [2])],
        ["on", "g", "sum", "number"],
    )
    content = model(
        [node("Loop", "count - x", "last sums numbers", body=body)],
        {"x": [2], "count": []},
        ["last", "sums", "numbers"],
        {"w": np.asarray([2, 3], "float32")},
        kinds={"count": TensorProto.INT64},
    )
    result = read(content)
    assert "while" in types(result.program)
    paddle.enable_static()
    block = result.program.global_block()
    with paddle.static.program_guard(result.program):
        loss = paddle.sum(block.vars[result.outputs[1]])
        (pair,) = paddle.static.append_backward(loss, parameter_list=[block.vars["w"]])
    feed = {"x": np.ones(2, "float32"), "count": np.int64(rounds)}
    last, sums, numbers, slope = paddle.static.Executor().run(
        result.program, feed=feed, fetch_list=[*result.outputs, pair[1]]
    )
    powers = np.arange(1, rounds + 1)
    np.testing.assert_allclose(last, [2.0**rounds, 3.0**rounds])
    np.testing.assert_allclose(sums, 2.0**powers + 3.0**powers)
    np.testing.assert_array_equal(numbers, np.arange(rounds, dtype="int32"))
    np.testing.assert_allclose(slope, [(powers * w ** (powers - 1.0)).sum() for w in (2, 3)])


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_a_branch_depends_on_what_is_fed(value: float) -> None:
    then, other = (_graph([node(kind, "x", "r")], [], ["r"]) for kind in ("Exp", "Neg"))
    content = model(
        [
            node("ReduceSum", "x", "sum", keepdims=0),
            node("Greater", "sum zero", "positive"),
            node("If", "positive", "y", then_branch=then, else_branch=other),
        ],
        {"x": [2]},
        ["y"],
        {"zero": np.float32(0)},
    )
    x = np.full(2, value, "float32")
    np.testing.assert_allclose(run(read(content), x=x)[0], np.exp(x) if value > 0 else -x, rtol=1e-6)


def test_a_pair_of_quantize_and_dequantize_passes_gradients_straight_through() -> None:
    content = model(
        [
            node("Mul", "x gain", "g"),
            node("QuantizeLinear", "g scale zero", "q"),
            node("DequantizeLinear", "q scale zero", "d"),
            node("DequantizeLinear", "wq scale zero", "w"),
            node("MatMul", "d w", "y"),
        ],
        {"x": [1, 2]},
        ["y"],
        {
            "gain": np.ones(2, "float32"),
            "scale": np.float32(0.5),
            "zero": np.int8(0),
            "wq": np.asarray([[2], [4]], "int8"),
        },
    )
    result = read(content)
    assert len(result.notes) == 2
    assert "straight through" in " ".join(result.notes)
    block = result.program.global_block()
    assert [p.name for p in result.program.all_parameters()] == ["gain", "wq"]
    paddle.enable_static()
    with paddle.static.program_guard(result.program):
        (slope,) = paddle.static.gradients([block.vars["y"]], [block.vars["gain"]])
    y, dx = paddle.static.Executor().run(
        result.program, feed={"x": np.asarray([[0.7, -0.2]], "float32")}, fetch_list=[result.outputs[0], slope]
    )
    np.testing.assert_allclose(y, [[0.5 * 1 + 0 * 2]])
    np.testing.assert_allclose(dx, [0.7 * 1, -0.2 * 2], rtol=1e-6)


# -- losses -----------------------------------------------------------------------------------------------------------


def test_without_a_loss_the_sum_of_the_outputs_is_taken_and_told(tmp_path: Path) -> None:
    loaded = _loaded(saved(mlp(), tmp_path))
    assert loaded.loss is not None
    assert loaded.loss.op.type == "reduce_sum"


def _loaded(path: str, **options: Any) -> Any:
    from gradtool.engine.loading.from_python import load

    return load(path, **options)


@pytest.mark.parametrize(("kind", "labels"), [("mse", (4, 3)), ("cross_entropy", (4,))])
def test_a_loss_function_compares_an_output_with_a_label(tmp_path: Path, kind: str, labels: tuple[int, ...]) -> None:
    loaded = _loaded(saved(mlp(4), tmp_path), loss_fn=kind, label="truth")
    assert [v.name for v in loaded.inputs()] == ["x", "truth"]
    assert loaded.inputs()[1].shape == labels
    table = loaded.backward(run=True)
    assert [line.status for line in table.rows] == ["ok"] * 4


def test_a_label_without_a_function_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--label names what --loss-fn compares with"):
        _loaded(saved(mlp(), tmp_path), label="truth").backward()


# -- files that are refused -------------------------------------------------------------------------------------------


def _cyclic() -> Any:
    return model([node("Add", "x b", "a"), node("Relu", "a", "b")], {"x": [2]}, ["b"])


def _nested() -> Any:
    inner = _graph([node("Relu", "x", "r")], [], ["r"])
    for _ in range(40):
        inner = _graph([node("If", "c", "r", then_branch=inner, else_branch=inner)], [], ["r"])
    del inner.node[0].attribute[1].g.node[:]
    return model(inner.node, {"x": [2], "c": []}, ["r"], kinds={"c": TensorProto.BOOL})


def _huge() -> Any:
    content = mlp()
    content.graph.initializer[0].dims[:] = [1 << 40, 1 << 20]
    return content


def _twice() -> Any:
    return model([node("Relu", "x", "y"), node("Neg", "x", "y")], {"x": [2]}, ["y"])


def _calling_itself() -> Any:
    f = helper.make_function(
        "my.own",
        "F",
        ["a"],
        ["b"],
        [helper.make_node("F", ["a"], ["b"], domain="my.own")],
        [helper.make_opsetid("my.own", 1)],
    )
    content = model([helper.make_node("F", ["x"], ["y"], domain="my.own")], {"x": [2]}, ["y"], functions=[f])
    content.opset_import.append(helper.make_opsetid("my.own", 1))
    return content


def _too_large() -> Any:
    shape = numpy_helper.from_array(np.asarray([1 << 40]), "shape")
    content = model([node("ConstantOfShape", "shape", "big"), node("Add", "x big", "y")], {"x": [1]}, ["y"])
    content.graph.initializer.append(shape)
    return content


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: b"\x08", "it is none, or damaged"),
        (lambda: mlp().SerializeToString()[:200], "it is none, or damaged"),
        (lambda: b"", "it holds no graph"),
        (_cyclic, "b"),
        (_huge, "initializer 'w0'"),
        (_twice, "y"),
        (_calling_itself, "call themselves"),
        (lambda: model([], {"x": [2]}, ["y"]), "y"),
        (lambda: model([node("Relu", "x", "y")], {"x": [2]}, ["y"], opset=6), "version 6"),
        (lambda: model([node("Concat", "x x", "y", axis=7)], {"x": [2]}, ["y"]), "Concat"),
    ],
)
def test_a_file_that_cannot_exist_is_refused(make: Any, message: str) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        read(make())
    assert str(caught.value).startswith("model.onnx")


def test_a_constant_that_is_too_large_is_made_when_the_program_runs() -> None:
    program = read(_too_large()).program
    assert "fill_constant" in types(program)


def _outside(location: str, **told: str) -> Any:
    content = mlp()
    tensor = content.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **told}.items():
        tensor.external_data.add(key=key, value=value)
    return content


@pytest.mark.parametrize("location", ["../secret", "/etc/hostname", "", "link/secret", "a\0b"])
def test_values_in_other_files_lie_in_the_folder(tmp_path: Path, location: str) -> None:
    (tmp_path / "secret").write_bytes(bytes(80))
    home = tmp_path / "home"
    home.mkdir()
    (home / "link").symlink_to(tmp_path)
    with pytest.raises(FileFormatError):
        read(_outside(location), home)


def test_values_in_another_file_are_read(tmp_path: Path) -> None:
    (tmp_path / "values.bin").write_bytes(bytes(16) + weights(5, 4).tobytes())
    read(_outside("values.bin", offset="16", length="80"), tmp_path)
    np.testing.assert_array_equal(global_scope().values["w0"], weights(5, 4))
    with pytest.raises(FileFormatError, match=r"behind the end of 'values\.bin'"):
        read(_outside("values.bin", offset="32", length="80"), tmp_path)


def test_values_beside_a_model_are_found_from_anywhere(tmp_path: Path) -> None:
    """As exporters write them, relative to the model and not to the working folder."""
    path = tmp_path / "model.onnx"
    onnx.save(mlp(), str(path), save_as_external_data=True, location="model.onnx.data", size_threshold=0)
    read_from(path)
    np.testing.assert_array_equal(global_scope().values["w0"], weights(5, 4))


def read_from(path: Path) -> Imported:
    return reading.read(path.read_bytes(), path.name, path.parent)


def test_gradients_pass_what_is_computed_in_eight_bits() -> None:
    """Two readers of a tensor in eight bits, whose gradients are those of the real numbers."""
    values = {
        "scale": np.asarray(0.1, "float32"),
        "zero": np.asarray(3, "int8"),
        "w": np.ones((1, 1, 1, 1), "int8"),
        "real": weights(1, 1, 2, 2),
    }
    quantized = "scale zero w scale zero scale zero"
    nodes = [
        node("Mul", "x real", "a"),
        node("QuantizeLinear", "a scale zero", "q"),
        node("QLinearConv", f"q {quantized}", "b"),
        node("QLinearConv", f"b {quantized}", "c"),
        node("DequantizeLinear", "b scale zero", "d"),
        node("DequantizeLinear", "c scale zero", "e"),
        node("Add", "d e", "y"),
    ]
    program = read(model(nodes, {"x": [1, 1, 2, 2]}, ["y"], values))
    y = program.program.global_block().vars[program.outputs[0]]
    paddle.enable_static()
    with paddle.static.program_guard(program.program):
        ((_, gradient),) = paddle.static.append_backward(paddle.sum(y))
        (got,) = paddle.static.Executor().run(
            program.program, feed={"x": np.ones((1, 1, 2, 2), "float32")}, fetch_list=[gradient]
        )
    each = (1 - 3) * 0.1  # what the weight stands for
    np.testing.assert_allclose(got, np.full((1, 1, 2, 2), each + each * each), rtol=1e-5)


def test_without_the_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(UnsupportedError, match="the package onnx is not installed") as caught:
        read(b"x")
    assert "gradtool[onnx]" in str(caught.value)
    assert onnx is not None


def test_what_reads_a_result_of_something_lacking_is_no_fault_of_the_file() -> None:
    content = model(
        [node("Places", "x", "places", domain="mine"), node("GatherElements", "x places", "y")], {"x": [3]}, ["y"]
    )
    result = read(content)
    assert types(result.program) == ["Places", "GatherElements"]
    with pytest.raises(UnsupportedError, match=r"does not have 2 of its operators: Places .*; GatherElements"):
        run(result, x=np.ones(3, "float32"))


def _edges_repeated(x: Any, grid: Any, corners: int) -> tuple[Any, Any]:
    """The image with its edge repeated four times, and the same places in it."""
    size = np.asarray(x.shape[:1:-1], "float64")
    at = (grid + 1) / 2 * (size - 1) if corners else ((grid + 1) * size - 1) / 2
    wide = size + 8
    moved = (at + 4) * 2 / (wide - 1) - 1 if corners else ((at + 4) * 2 + 1) / wide - 1
    return np.pad(x, ((0, 0), (0, 0), (4, 4), (4, 4)), mode="edge"), moved.astype("float32")


@pytest.mark.parametrize("beyond", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [0, 1])
def test_cubic_samples_are_those_of_the_reference_and_have_gradients(beyond: str, corners: int) -> None:
    from onnx.reference import ReferenceEvaluator

    rng = np.random.default_rng(1)
    values = {"x": weights(1, 2, 5, 4), "grid": rng.uniform(-1.2, 1.2, (1, 3, 2, 2)).astype("float32")}

    def content(beyond: str, values: dict[str, Any]) -> Any:
        sample = node("GridSample", "x grid", "y", mode="cubic", padding_mode=beyond, align_corners=corners)
        return model([sample], {}, ["y"], values, opset=20)

    looked_at, outside = values, beyond
    if beyond == "border":  # the reference moves the places themselves, onnxruntime and PyTorch what they take
        looked_at, outside = dict(zip(values, _edges_repeated(*values.values(), corners), strict=True)), "zeros"
    (expected,) = ReferenceEvaluator(content(outside, looked_at)).run(None, {})
    result = read(content(beyond, values))
    paddle.enable_static()
    block = result.program.global_block()
    with paddle.static.program_guard(result.program):
        loss = paddle.sum(paddle.cast(block.vars["y"], "float64") ** 2)
        pairs = paddle.static.append_backward(loss)
    scope = global_scope().values

    def ran(size: float, way: dict[str, Any]) -> list[Any]:
        scope.update({n: (values[n] + size * way[n]).astype("float32") for n in way})
        return paddle.static.Executor().run(  # type: ignore[no-any-return]
            result.program, fetch_list=["y", loss, *(g for _, g in pairs)]
        )

    way = {n: rng.standard_normal(values[n].shape) for n in values}
    y, _, *slopes = ran(0, way)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
    along = sum((slope * way[p.name]).sum() for (p, _), slope in zip(pairs, slopes, strict=True))
    above, below = ran(1e-3, way)[1], ran(-1e-3, way)[1]
    np.testing.assert_allclose((above - below) / 2e-3, along, rtol=5e-3, atol=1e-3)


@pytest.mark.parametrize("last", ["Softmax", "Relu"])
def test_a_sum_that_is_always_the_same_has_weights(tmp_path: Path, last: str) -> None:
    """The loss of a classifier that ends in softmax is no constant."""
    values = {"w": weights(4, 3)}
    path = saved(model([node("MatMul", "x w", "h"), node(last, "h", "y")], {"x": [2, 4]}, ["y"], values), tmp_path)
    notes = Kept()
    table = Backward(run=True).ask(Request(path), notes)
    assert float(np.abs(table.arrays[table.rows[0].subject]).max()) > 1e-3
    assert ("since what softmax gives has a fixed sum" in notes.text) == (last == "Softmax")


class Kept(Notes):
    """Notes as one text."""

    verbose = 0
    text = ""

    def note(self, text: str) -> None:
        self.text += text


def test_lines_that_are_files_are_cut() -> None:
    place = source.stand_in_code("program.json", "f", "x" * 5000)
    assert len(source.text(place, 1)) < 500
