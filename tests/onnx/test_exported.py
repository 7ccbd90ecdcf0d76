"""Programs as ONNX models: what the standard's reference computes of them, and what has no row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import gradtool as paddle
from gradtool.engine.core.errors import UnsupportedError
from gradtool.engine.executor.scope import global_scope
from gradtool.models.loader import Request
from gradtool.models.onnx.writers import TABLE
from gradtool.models.onnx.writing import write
from gradtool.models.questions.export import Export
from tests.cli.conftest import Run
from tests.onnx.models import mlp, saved
from tests.onnx.test_networks import NAMES, SAVED


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    with np.load(SAVED) as file:
        return dict(file)


def exported(path: Path, **options: Any) -> Any:
    return Export(form="onnx").ask(Request(str(path), **options))


def computed(data: bytes, **feed: Any) -> dict[str, Any]:
    """What the reference implementation of the standard computes, by name."""
    session = ReferenceEvaluator(onnx.load_model_from_string(data))
    results = session.run(None, {name: feed[name] for name in session.input_names})
    return dict(zip(session.output_names, results, strict=True))


@pytest.mark.parametrize("name", [n for n in NAMES if n != "vit"])
def test_backward_parts_give_the_gradients_that_pytorch_gave(
    recorded: dict[str, Any], name: str, tmp_path: Path
) -> None:
    path = tmp_path / f"{name}.onnx"
    path.write_bytes(recorded[f"{name}/model"].tobytes())
    answer = exported(path, loss_fn="mse")
    results = computed(answer.program, x=recorded[f"{name}/x"], label=recorded[f"{name}/label"])
    begin = f"{name}/gradient/"
    expected = {key.removeprefix(begin): value for key, value in recorded.items() if key.startswith(begin)}
    assert {f"{key}@GRAD" for key in expected} <= set(results)
    for key, value in expected.items():
        np.testing.assert_allclose(results[f"{key}@GRAD"], value, rtol=2e-3, atol=2e-6, err_msg=key)


def test_what_has_no_row_is_told_all_at_once(recorded: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "vit.onnx"
    path.write_bytes(recorded["vit/model"].tobytes())
    with pytest.raises(UnsupportedError, match=r"there is no row for reshape2 .with ShapeTensor., expand_v2") as caught:
        exported(path, loss_fn="mse")
    assert "slice_grad (along an axis of a size that is not known)" in str(caught.value)


def test_a_program_that_was_read_and_written_is_read_again(tmp_path: Path, gradtool: Run) -> None:
    done = gradtool("export", saved(mlp(3), tmp_path), "--forward-only", "-o", str(tmp_path / "again.onnx"))
    assert done.code == 0, done.err
    assert "onnxruntime.InferenceSession" in done.out
    content = onnx.load(str(tmp_path / "again.onnx"))
    assert [v.name for v in content.graph.initializer if "." not in v.name] == ["w0", "b0", "w1", "b1"]
    first, again = (gradtool("backward", str(tmp_path / f"{n}.onnx"), "--run") for n in ("model", "again"))
    assert first.code == again.code == 0
    assert [line.split()[:3] for line in again.out.splitlines()[2:6]] == [
        line.split()[:3] for line in first.out.splitlines()[2:6]
    ]


def test_other_names_of_files_are_refused(tmp_path: Path, gradtool: Run) -> None:
    done = gradtool("export", saved(mlp(), tmp_path), "-o", str(tmp_path / "net.h5"))
    assert done.code != 0
    assert "NAME.onnx" in done.err


@pytest.fixture
def classifier() -> tuple[Any, Any, list[Any]]:
    """A classifier of Paddle's own operators, with its backward part: loss, program, pairs."""
    program, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(program, startup):
        x = paddle.static.data("x", [4, 6])
        label = paddle.static.data("label", [4, 1], "int64")
        hidden = paddle.nn.functional.gelu(paddle.static.nn.fc(x, 5))
        scores = paddle.static.nn.fc(paddle.nn.functional.silu(hidden), 3)
        loss = paddle.mean(paddle.nn.functional.softmax_with_cross_entropy(scores, label))
        pairs = paddle.static.append_backward(loss)
    paddle.static.Executor().run(startup)
    return loss, program, pairs


def test_what_gradtool_computes_and_what_the_model_gives_are_the_same(classifier: tuple[Any, Any, list[Any]]) -> None:
    loss, program, pairs = classifier
    names = [loss.name, *(g.name for _, g in pairs)]
    rng = np.random.default_rng(0)
    feed = {"x": rng.standard_normal((4, 6)).astype("float32"), "label": np.asarray([[0], [2], [1], [1]])}
    ours = paddle.static.Executor().run(program, feed=feed, fetch_list=names)
    data = write(program, global_scope().values, names)
    theirs = computed(data, **feed)
    for name, value in zip(names, ours, strict=True):
        np.testing.assert_allclose(theirs[name], value, rtol=1e-4, atol=1e-6, err_msg=name)
    assert data == write(program, global_scope().values, names)


def test_every_row_is_of_an_operator() -> None:
    from gradtool.engine.ops import registry

    assert [name for name in TABLE if registry.find(name) is None] == []
    assert len(TABLE) >= 100
