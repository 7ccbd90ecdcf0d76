"""Archives of torch.export as programs: names, sources, what is written in place, what is lacking, what is refused."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core import source
from gradtool.engine.core.errors import FileFormatError, UnsupportedError
from gradtool.engine.executor.scope import Scope, global_scope, scope_guard
from gradtool.engine.importers import Imported
from gradtool.engine.importers.pt2 import reading
from gradtool.engine.importers.pt2.operators import rows
from gradtool.paddle.utils import unique_name
from tests.pt2.archives import archive, meta, mlp, mlp_program, mlp_values, node, program, zipped


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    with scope_guard(Scope()), unique_name.guard():
        yield
    paddle.disable_static()


def read(data: bytes) -> Imported:
    return reading.read(data, "model.pt2")


def run(result: Imported, **feed: Any) -> list[Any]:
    paddle.enable_static()
    return paddle.static.Executor().run(result.program, feed=feed, fetch_list=list(result.outputs))  # type: ignore[no-any-return]


def one(*nodes: Any, shapes: dict[str, Any], outputs: str, **more: Any) -> bytes:
    """An archive that is fed x."""
    return archive(program(nodes, shapes, ["x"], outputs.split(), **more), {})


X = np.arange(6, dtype="float32").reshape(2, 3)


# -- names and sources ------------------------------------------------------------------------------------------------


def test_parameters_have_their_names_in_the_module() -> None:
    result = read(mlp())
    assert [p.name for p in result.program.all_parameters()] == ["first.weight", "first.bias", "blocks.1.weight"]
    assert result.outputs == ("scores",)
    x = np.random.default_rng(1).standard_normal((2, 4)).astype("float32")
    values = mlp_values()
    hidden = np.maximum(x @ values["first.weight"].T + values["first.bias"], 0)
    np.testing.assert_allclose(run(result, x=x)[0], hidden @ values["blocks.1.weight"].T, rtol=1e-5)


def test_lines_and_layers_are_those_of_the_module() -> None:
    ops = read(mlp()).program.global_block().ops
    assert [op.type for op in ops] == ["matmul_v2", "elementwise_add", "relu", "matmul_v2"]
    assert [source.short(op.loc) for op in ops] == ["net.py:12", "net.py:12", "net.py:12", "model.pt2:3"]
    assert [op.scope for op in ops] == ["/first/", "/first/", "/", "/blocks/1/"]


def test_what_is_made_is_called_as_the_graph_calls_it() -> None:
    ops = read(mlp()).program.global_block().ops
    assert [next(iter(op.output_variables())).name for op in ops[1:]] == ["linear", "relu_", "scores"]


def test_parameters_that_do_not_train_are_frozen() -> None:
    content = mlp_program()
    content["graph_module"]["graph"]["tensor_values"]["p_b0"]["requires_grad"] = False
    result = read(archive(content, mlp_values()))
    assert [p.name for p in result.program.all_parameters() if not p.trainable] == ["first.bias"]


def test_parameters_that_nobody_reads_are_there() -> None:
    content = mlp_program()
    content["graph_module"]["graph"]["nodes"][0]["inputs"].pop()
    result = read(archive(content, mlp_values()))
    assert "first.bias" in {p.name for p in result.program.all_parameters()}


def test_buffers_are_assigned_what_becomes_of_them() -> None:
    data = archive(
        program(
            [
                node("aten.add_.Tensor", "add_", self="@b", other=1),
                node("aten.mul.Tensor", "y", self="@x", other="@b"),
                node("aten.mul.Tensor", "new", self="@b", other=2.0),
            ],
            {"x": meta([2, 3]), "b": meta([]), "add_": meta([]), "y": meta([2, 3]), "new": meta([])},
            ["x"],
            ["y"],
            buffers={"b": "count"},
            changes={"new": "count"},
        ),
        {"count": np.asarray(3, "float32")},
    )
    result = read(data)
    np.testing.assert_array_equal(run(result, x=X)[0], X * 4)
    assert global_scope().values["count"] == 8


def test_elements_are_looked_at_as_the_file_says() -> None:
    content = program(
        [node("aten.add.Tensor", "y", self="@x", other="@w")],
        {"x": meta([2, 3]), "w": meta([2, 3], trains=True), "y": meta([2, 3])},
        ["x"],
        ["y"],
        {"w": "w"},
    )
    stored = np.arange(8, dtype="float32")
    layout = meta([2, 3]) | {"strides": [{"as_int": 1}, {"as_int": 2}], "storage_offset": {"as_int": 1}}
    entry = {"path_name": "weight_0", "is_param": True, "use_pickle": False, "tensor_meta": layout}
    files = {"models/model.json": json.dumps(content).encode(), "byteorder": b"big"}
    files["data/weights/model_weights_config.json"] = json.dumps({"config": {"w": entry}}).encode()
    files["data/weights/weight_0"] = stored.astype(">f4").tobytes()
    read(zipped(files))
    np.testing.assert_array_equal(global_scope().values["w"], [[1, 3, 5], [2, 4, 6]])


def test_archives_that_are_compressed_are_read() -> None:
    assert read(archive(mlp_program(), mlp_values(), zipfile.ZIP_DEFLATED)).outputs == ("scores",)


def test_weights_that_were_not_saved_are_told() -> None:
    files = {"models/model.json": json.dumps(mlp_program()).encode()}
    names = mlp_values()
    listed = {n: {"path_name": "w", "use_pickle": False, "tensor_meta": meta(a.shape)} for n, a in names.items()}
    files["data/weights/model_weights_config.json"] = json.dumps({"config": listed}).encode()
    files["data/weights/w"] = b""
    assert read(zipped(files)).notes == (
        "the file holds shapes without elements: nothing that needs values is answered",
    )


# -- what is lacking --------------------------------------------------------------------------------------------------


def test_operators_that_are_lacking_are_told_all_at_once() -> None:
    shapes = {"x": meta([2, 3]), "a": meta([2, 3]), "b": meta([2, 3]), "y": meta([2, 3])}
    result = read(
        one(
            node("aten.bogus.default", "a", stack='File "net.py", line 3, in forward\n    a = bogus(x)', self="@x"),
            node("mine.op.default", "b", self="@a"),
            node("aten.neg.default", "y", self="@b"),
            shapes=shapes,
            outputs="y",
        )
    )
    assert [op.type for op in result.program.global_block().ops] == ["aten.bogus.default", "mine.op.default", "scale"]
    with pytest.raises(UnsupportedError, match="does not have 2 of its operators") as raised:
        run(result, x=X)
    assert "aten.bogus.default at net.py:3; mine.op.default at model.pt2:2" in raised.value.message


def test_the_rest_of_such_a_program_is_answered(tmp_path: Path) -> None:
    from gradtool.engine.loading.from_python import load

    content = mlp_program()
    content["graph_module"]["graph"]["nodes"][1]["target"] = "torch.ops.mine.activation.default"
    (tmp_path / "model.pt2").write_bytes(archive(content, mlp_values()))
    model: Any = load(str(tmp_path / "model.pt2"))
    assert [row.name for row in model.backward().rows] == ["first.weight", "first.bias", "blocks.1.weight"]


def test_what_changes_a_shape_in_place_is_lacking() -> None:
    shapes = {"x": meta([2, 3]), "c": meta([2, 3]), "y": meta([1, 2, 3])}
    copy = node("aten.clone.default", "c", self="@x")
    result = read(one(copy, node("aten.unsqueeze_.default", "y", self="@c", dim=0), shapes=shapes, outputs="y"))
    with pytest.raises(UnsupportedError, match="a change of its shape in place"):
        run(result, x=X)


def test_every_row_says_an_operator_once() -> None:
    assert len(rows.TABLE) > 400
    assert not [name for name in rows.TABLE if name.endswith("_") and name[:-1] in rows.TABLE]


# -- what is refused --------------------------------------------------------------------------------------------------


def changed(change: Callable[[dict[str, Any]], Any]) -> bytes:
    content = mlp_program()
    change(content)
    return archive(content, mlp_values())


def _graph(content: dict[str, Any]) -> dict[str, Any]:
    return content["graph_module"]["graph"]  # type: ignore[no-any-return]


REFUSED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a name that nobody makes": (
        lambda c: _graph(c)["nodes"].reverse(),
        "which nobody makes before it",
    ),
    "a shape that does not come out": (
        lambda c: _graph(c)["tensor_values"].update(linear=meta([2, 9])),
        "makes a tensor of shape",
    ),
    "another schema": (
        lambda c: c.update(schema_version={"major": 9, "minor": 0}),
        "version 9 of the schema",
    ),
    "an element type": (
        lambda c: _graph(c)["tensor_values"]["x"].update(dtype=29),
        "float8_e4m3fn, which gradtool has not",
    ),
    "no nodes": (lambda c: _graph(c).pop("nodes"), "damaged"),
    "a weight of another shape": (
        lambda c: _graph(c)["tensor_values"].update(p_b0=meta([4])),
        r"of shape \[5\], and \[4\] is expected",
    ),
    "an input of another kind": (
        lambda c: c["graph_module"]["signature"]["input_specs"].append({"custom_obj": {}}),
        "an input of the kind custom_obj",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_damaged_programs_are_refused(case: str) -> None:
    change, message = REFUSED[case]
    with pytest.raises(FileFormatError, match=message):
        read(changed(change))


def test_pickles_of_lone_tensors_are_read_as_data() -> None:
    files = {"models/model.json": json.dumps(mlp_program()).encode()}
    entry = {"path_name": "weight_0", "use_pickle": True, "tensor_meta": None}
    files["data/weights/model_weights_config.json"] = json.dumps({"config": {"first.weight": entry}}).encode()
    files["data/weights/weight_0"] = zipped({"data.pkl": b"\x80\x02cnt\nsystem\n."})
    with pytest.raises(FileFormatError, match=r"weight_0: .* it names 'nt\.system', and nothing was made or run of it"):
        read(zipped(files))
    files["data/weights/weight_0"] = zipped({"data.pkl": b"\x80\x02N."})
    with pytest.raises(FileFormatError, match=r"'first\.weight' in data/weights/weight_0 is no tensor"):
        read(zipped(files))


OTHER = json.dumps(mlp_program()).encode()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "it holds no program"),
        ({"models/a.json": b"{}", "models/b.json": b"{}"}, "it holds 2 programs"),
        ({"data/aotinductor/model/x.so": b""}, "compiled code and no graph"),
        ({"models/model.json": b"["}, "JSON"),
        ({"models/model.json": OTHER, "data/weights/model.pt": b""}, "model.pt: .* it is no zip archive"),
        ({"models/model.json": b"[]"}, "its program is no object"),
    ],
)
def test_other_archives_are_refused(files: dict[str, bytes], message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read(zipped(files))


def test_what_is_no_archive_is_refused() -> None:
    with pytest.raises(FileFormatError, match="it is no zip archive"):
        read(b"PK")


def test_weights_that_reach_behind_their_bytes_are_refused() -> None:
    values = mlp_values()
    data = archive(mlp_program(), {**values, "first.bias": values["first.bias"][:5]})
    with pytest.raises(FileFormatError, match="the checksum is wrong"):
        read(data.replace(values["first.bias"].tobytes(), bytes(20)))


def test_a_form_that_no_kernel_takes_is_lacking_and_leaves_nothing_behind() -> None:
    shapes = {"x": meta([2, 3]), "m": meta([2, 2]), "v": meta([2]), "y": meta([2, 2])}
    mean = node("aten.max_pool2d.default", "y", self="@m", kernel_size=[1, 1], dilation=[2, 2])
    both = [node("aten.slice.Tensor", "m", self="@x", dim=1, start=0, end=2), mean]
    result = read(one(*both, shapes=shapes, outputs="y"))
    assert [op.type for op in result.program.global_block().ops] == ["slice", "aten.max_pool2d.default"]
    with pytest.raises(UnsupportedError, match=r"aten\.max_pool2d\.default"):
        run(result, x=X)
