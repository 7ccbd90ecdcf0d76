"""Programs as ONNX models: what the standard's reference computes of them, and what has no row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import gradtool.paddle.nn.functional as F
from gradtool import paddle
from gradtool.engine.core.errors import UnsupportedError
from gradtool.engine.executor.scope import Scope, global_scope, scope_guard
from gradtool.engine.importers.onnx.writers import TABLE
from gradtool.engine.importers.onnx.writing import write
from gradtool.engine.questions.export import Export
from gradtool.engine.request.request import Request
from gradtool.paddle import nn
from gradtool.paddle.utils import unique_name
from tests.cli.conftest import Run
from tests.onnx.models import mlp, model, node, saved
from tests.onnx.test_networks import NAMES, SAVED


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    with np.load(SAVED) as file:
        return dict(file)


def exported(path: Path, **options: Any) -> Any:
    return Export(form="onnx").ask(Request.create(str(path), **options))


def computed(data: bytes, **feed: Any) -> dict[str, Any]:
    """What the reference implementation of the standard computes, by name."""
    session = ReferenceEvaluator(onnx.load_model_from_string(data))
    results = session.run(None, {name: feed[name] for name in session.input_names})
    return dict(zip(session.output_names, results, strict=True))


@contextmanager
def program() -> Iterator[Any]:
    """A static program, whose parameters have values when it is done."""
    whole, startup = paddle.static.Program(), paddle.static.Program()
    with scope_guard(Scope()), unique_name.guard():
        with paddle.static.program_guard(whole, startup):
            yield whole
        paddle.static.Executor().run(startup)


def expect_equal(whole: Any, names: list[str], *feeds: dict[str, Any]) -> None:
    """What gradtool computes of a program, and the reference implementation of the model."""
    data = write(whole, global_scope().values, names)
    for feed in feeds:
        ours = paddle.static.Executor().run(whole, feed=feed, fetch_list=names)
        theirs = computed(data, **feed)
        assert len(theirs) == len(names)
        for name, value, other in zip(names, ours, theirs.values(), strict=True):
            np.testing.assert_allclose(other, value, rtol=2e-4, atol=2e-6, err_msg=name)


def expect_gradients(function: Callable[[Any], Any], shape: Sequence[int], low: float = -1.0) -> None:
    """*function* of a parameter, and the gradients of a weighted sum of it."""
    whole, startup = paddle.static.Program(), paddle.static.Program()
    rng = np.random.default_rng(1)
    with scope_guard(Scope()), unique_name.guard():
        with paddle.static.program_guard(whole, startup):
            y = function(paddle.static.create_parameter(shape, "float32", name="x"))
            weights = paddle.assign(rng.standard_normal(y.shape).astype("float32"))
            pairs = paddle.static.append_backward(paddle.sum(y * weights))
        paddle.static.Executor().run(startup)
        global_scope().values["x"] = rng.uniform(low, 1.0, shape).astype("float32")
        expect_equal(whole, [y.name, *(gradient.name for _, gradient in pairs)], {})


@pytest.mark.parametrize("name", NAMES)
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


def test_what_has_no_row_is_told_all_at_once() -> None:
    with program() as whole:
        x = paddle.static.data("x", [4, 3])
        n = paddle.static.data("n", [1], "int64")
        w = paddle.static.create_parameter([3], "float32", name="w")
        count = paddle.full([1], 0, "int64")
        _, y = paddle.static.nn.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, paddle.erfinv(y) * w], [count, x])
        loss = paddle.mean(paddle.cumsum(y, axis=0))
        paddle.static.append_backward(loss)
    with pytest.raises(UnsupportedError, match=r"there is no row for erfinv, cumsum, cumsum_grad, while_grad"):
        write(whole, global_scope().values, [loss.name])


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
    loss, whole, pairs = classifier
    names = [loss.name, *(g.name for _, g in pairs)]
    rng = np.random.default_rng(0)
    feed = {"x": rng.standard_normal((4, 6)).astype("float32"), "label": np.asarray([[0], [2], [1], [1]])}
    ours = paddle.static.Executor().run(whole, feed=feed, fetch_list=names)
    data = write(whole, global_scope().values, names)
    theirs = computed(data, **feed)
    for name, value in zip(names, ours, strict=True):
        np.testing.assert_allclose(theirs[name], value, rtol=1e-4, atol=1e-6, err_msg=name)
    assert data == write(whole, global_scope().values, names)


def test_every_row_is_of_an_operator() -> None:
    from gradtool.engine.ops import registry

    assert [name for name in TABLE if registry.find(name) is None] == []
    assert len(TABLE) >= 100


POOLS: dict[str, Callable[[Any], Any]] = {
    "the whole image": lambda x: F.adaptive_avg_pool2d(x, 1) + F.adaptive_max_pool2d(x, 1),
    "adaptive means": lambda x: F.adaptive_avg_pool2d(x, (3, 4)),
    "adaptive maxima": lambda x: F.adaptive_max_pool2d(x, (7, 3)),
    "a last window that is cut": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
    "pads that do not count": lambda x: F.avg_pool2d(x, 3, 2, 1),
    "pads that count": lambda x: F.avg_pool2d(x, 3, 2, 1, exclusive=False),
    "a rest that no window has": lambda x: F.avg_pool2d(x, 2, 3),
    "maxima with ceil_mode": lambda x: F.max_pool2d(x, 3, 3, ceil_mode=True),
    "maxima with their places": lambda x: F.max_pool2d(x, 3, 2, 1, return_mask=True)[0],
}


@pytest.mark.parametrize("kind", POOLS)
def test_pools_of_every_kind_and_their_gradients(kind: str) -> None:
    expect_gradients(POOLS[kind], (2, 3, 7, 6))


def test_maxima_of_windows_of_several_sizes_are_written_without_their_gradient() -> None:
    with program() as whole:
        x = paddle.static.data("x", [2, 3, 7, 5])
        y = F.adaptive_max_pool2d(x, (4, 3))
        expect_equal(whole, [y.name], {"x": np.random.default_rng(0).standard_normal((2, 3, 7, 5)).astype("float32")})


@pytest.mark.parametrize(("layout", "shape"), [("NCHW", (3, 2, 4, 3)), ("NHWC", (3, 4, 3, 2)), ("NCHW", (6, 2))])
def test_batch_norm_that_trains(layout: str, shape: tuple[int, ...]) -> None:
    expect_gradients(lambda x: paddle.static.nn.batch_norm(x, data_layout=layout), shape)


KINKS: dict[str, Callable[[Any], Any]] = {
    "abs": paddle.abs,
    "clip": lambda x: paddle.clip(x, -3.0, 3.0),
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    "leaky_relu": F.leaky_relu,
    "maximum": lambda x: paddle.maximum(x, x * x),
    "minimum": lambda x: paddle.minimum(x, x * x),
    "relu": F.relu,
    "relu6": F.relu6,
    "square": paddle.square,
}


@pytest.mark.parametrize("name", KINKS)
def test_slopes_at_kinks(name: str) -> None:
    """A convolution after dead units gives exact zeros: the slope there is the one that gradtool has."""
    whole, startup = paddle.static.Program(), paddle.static.Program()
    with scope_guard(Scope()), unique_name.guard():
        with paddle.static.program_guard(whole, startup):
            x = paddle.static.create_parameter([9], "float32", name="x")
            pairs = paddle.static.append_backward(paddle.sum(KINKS[name](x)))
        paddle.static.Executor().run(startup)
        global_scope().values["x"] = np.array([-6, -3, -1, -0.0, 0, 1, 3, 6, 7], "float32")
        expect_equal(whole, [gradient.name for _, gradient in pairs], {})


def _beyond_six(x: Any) -> Any:
    return F.relu6(x * 9) - F.relu6(0 - x)


def test_slopes_of_elementwise_operators() -> None:
    functions = (paddle.abs, paddle.sin, paddle.cos, paddle.rsqrt, paddle.reciprocal, F.softplus, _beyond_six)
    expect_gradients(lambda x: paddle.concat([f(x) for f in functions] + [paddle.pow(x, 1.7)]), (3, 4), low=0.2)
    expect_gradients(lambda x: paddle.maximum(x, x * 2) + paddle.minimum(x, paddle.exp(x[:1]) - 1), (3, 4))


@pytest.mark.parametrize("kind", ["add", "sub", "mul", "div", "max", "min"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((3,), 1), ((3, 4), 1), ((2, 3), 0), ((1, 4), 1), ((3, 1), 1), ((2, 1), 0)]
)
def test_an_operand_along_axes_in_the_middle(kind: str, shape: tuple[int, ...], axis: int) -> None:
    """The bias of a convolution stands along axis 1 of four: its gradient is the sum over the others."""
    whole, startup = paddle.static.Program(), paddle.static.Program()
    rng = np.random.default_rng(1)
    with scope_guard(Scope()), unique_name.guard():
        with paddle.static.program_guard(whole, startup):
            x = paddle.static.create_parameter([2, 3, 4, 5], "float32", name="x")
            y = paddle.static.create_parameter(shape, "float32", name="y")
            out = whole.global_block().create_var("out", [2, 3, 4, 5], "float32")
            whole.global_block().append_op(
                type=f"elementwise_{kind}", inputs={"X": [x], "Y": [y]}, outputs={"Out": [out]}, attrs={"axis": axis}
            )
            weights = paddle.assign(rng.standard_normal([2, 3, 4, 5]).astype("float32"))
            pairs = paddle.static.append_backward(paddle.sum(out * weights))
        paddle.static.Executor().run(startup)
        global_scope().values["x"] = rng.uniform(0.5, 1.5, [2, 3, 4, 5]).astype("float32")
        global_scope().values["y"] = rng.uniform(0.5, 1.5, shape).astype("float32")
        expect_equal(whole, ["out", *(gradient.name for _, gradient in pairs)], {})


class Residual(nn.Layer):
    """Two convolutions, with what comes in added to what they give."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2D(before, after, 3, stride, 1)
        self.second = nn.Sequential(nn.BatchNorm2D(after), nn.ReLU(), nn.Conv2D(after, after, 3, padding=1))
        self.shortcut = nn.Conv2D(before, after, 1, stride, bias_attr=False)

    def forward(self, x: Any) -> Any:
        return F.relu(self.second(self.first(x)) + self.shortcut(x))


CLASSIC: dict[str, Callable[[], list[Any]]] = {
    "lenet": lambda: [
        *(nn.Conv2D(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(6, 16, 5), nn.ReLU()),
        *(nn.MaxPool2D(2, 2), nn.Flatten(), nn.Linear(256, 20), nn.Linear(20, 10)),
    ],
    "vgg": lambda: [
        *(nn.Conv2D(1, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(), nn.Conv2D(4, 8, 3, padding=1), nn.ReLU()),
        *(nn.MaxPool2D(2, 2), nn.AdaptiveAvgPool2D(2), nn.Flatten(), nn.Linear(32, 8), nn.ReLU(), nn.Linear(8, 10)),
    ],
    "resnet": lambda: [
        *(nn.Conv2D(1, 4, 3, 2, 1), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(3, 2, 1), Residual(4, 4, 1)),
        *(Residual(4, 8, 2), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 10)),
    ],
    "mobilenet": lambda: [
        *(nn.Conv2D(1, 4, 3, 2, 1), nn.Hardswish(), nn.Conv2D(4, 4, 3, 1, 1, groups=4), nn.ReLU6()),
        *(nn.Conv2D(4, 8, 1), nn.LeakyReLU(), nn.AvgPool2D(2), nn.Flatten(), nn.Linear(288, 10)),
    ],
    "one dimension": lambda: [nn.Flatten(1, 2), nn.Conv1D(24, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(88, 10)],
}


@pytest.mark.parametrize("network", CLASSIC)
def test_classic_networks_with_their_backward_part(network: str) -> None:
    whole, startup = paddle.static.Program(), paddle.static.Program()
    with scope_guard(Scope()), unique_name.guard():
        with paddle.static.program_guard(whole, startup):
            x = paddle.static.data("x", [2, 1, 24, 24])
            label = paddle.static.data("label", [2, 1], "int64")
            loss = F.cross_entropy(nn.Sequential(*CLASSIC[network]())(x), label)
            pairs = paddle.static.append_backward(loss)
        paddle.static.Executor().run(startup)
        images = np.random.default_rng(0).standard_normal((2, 1, 24, 24)).astype("float32")
        feed = {"x": images, "label": np.array([[1], [2]])}
        assert len(pairs) > 3
        expect_equal(whole, [loss.name, *(gradient.name for _, gradient in pairs)], feed)


def test_sizes_that_are_known_when_it_is_fed() -> None:
    """Split, sliced, joined, flattened, expanded: with a batch and a length of any size."""
    with program() as whole:
        x = paddle.static.data("x", [-1, 4, -1])
        w = paddle.static.create_parameter([4, 1], "float32", name="w")
        h = x * w
        first, second = paddle.split(h, 2, axis=2)
        last, rest = paddle.split(h, [1, -1], axis=2)
        joined = paddle.concat([first * second, rest[:, :, 1:-1], last], axis=2)
        flat = paddle.reshape(joined, [0, -1])
        square = paddle.expand(paddle.unsqueeze(flat, [1]), [-1, 2, -1])
        rows = paddle.flatten(paddle.unsqueeze(h, [1]), 1, 2)
        loss = paddle.mean(paddle.squeeze(square * square, [0])) + paddle.mean(rows * rows)
        zeros = paddle.zeros([paddle.shape(x)[0], paddle.shape(x)[2]])
        ((_, gradient),) = paddle.static.append_backward(loss)
        feeds = ({"x": np.random.default_rng(n).standard_normal((n, 4, 2 * n + 4)).astype("float32")} for n in (2, 3))
        paddle.static.Executor().run(paddle.static.default_startup_program())
        global_scope().values["w"] = np.linspace(0.5, 2, 4, dtype="float32").reshape(4, 1)
        expect_equal(whole, [loss.name, rows.name, zeros.name, gradient.name], *feeds)


def test_branches_and_their_gradients() -> None:
    with program() as whole:
        x = paddle.static.data("x", [-1, 3])
        w = paddle.static.create_parameter([3], "float32", name="w")
        global_scope().values["w"] = np.asarray([0.5, -1, 2], "float32")
        h = x * w

        def inner() -> Any:
            return paddle.static.nn.cond(paddle.max(x) > 1, lambda: paddle.tanh(h) * h, lambda: h * h)

        y, z = paddle.static.nn.cond(paddle.sum(x) > 0, lambda: (inner(), h + 1), lambda: (paddle.exp(h), h))
        loss = paddle.mean(y * z)
        ((_, gradient),) = paddle.static.append_backward(loss)
        x = np.asarray([[1, 2, 0.5], [0.3, 0.7, 0.2]], "float32")
        expect_equal(whole, [y.name, loss.name, gradient.name], *({"x": x * by} for by in (1, -1, 0.3)))


@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_loops(rounds: int) -> None:
    with program() as whole:
        x = paddle.static.data("x", [-1, 3])
        n = paddle.static.data("n", [1], "int64")
        count, y = paddle.static.nn.while_loop(
            lambda i, y: i < n, lambda i, y: [i + 1, paddle.tanh(y) * 1.5], [paddle.full([1], 0, "int64"), x]
        )
        expect_equal(whole, [count.name, y.name], {"x": np.ones((2, 3), "float32"), "n": np.asarray([rounds])})


@pytest.mark.parametrize(
    "cut", [lambda x: x[::2, 1:5:3], lambda x: x[:, ::-2], lambda x: x[1, 4:0:-1], lambda x: x[-1:-4:-2, ..., 2:2:2]]
)
def test_steps_and_their_gradients(cut: Callable[[Any], Any]) -> None:
    expect_gradients(cut, (4, 6, 3))


@pytest.mark.parametrize("mode", ["upscale_in_train", "downscale_in_infer"])
def test_dropout_of_inference(mode: str) -> None:
    expect_gradients(lambda x: F.dropout(x, 0.25, training=False, mode=mode) * 2, (3, 4))


def test_dropout_that_draws_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"dropout \(that draws\)"):
        expect_gradients(lambda x: F.dropout(x, 0.25), (3, 4))


def test_numbers_up_to_a_length_of_any_size() -> None:
    with program() as whole:
        x = paddle.static.data("x", [-1, 3])
        places = paddle.arange(0, paddle.shape(x)[0], 1, dtype="int64")
        y = paddle.cast(paddle.unsqueeze(places, [1]), "float32") + x
    expect_equal(whole, [y.name], *({"x": np.ones((n, 3), "float32")} for n in (2, 5)))


def test_outputs_are_those_that_the_file_says(tmp_path: Path) -> None:
    """One that another is computed from is given, too."""
    content = model([node("Relu", "x", "state"), node("Exp", "state", "y")], {"x": [2]}, ["y", "state"])
    written = exported(Path(saved(content, tmp_path)), need_loss=False).program
    assert [v.name for v in onnx.load_model_from_string(written).graph.output][:2] == ["y", "state"]


def filters(*shape: int) -> Any:
    """A parameter whose numbers are all different."""
    count = int(np.prod(shape))
    values = nn.initializer.Assign((np.arange(count).reshape(shape) * 7 % 11 - 5).astype("float32") / 8)
    return paddle.static.create_parameter(list(shape), "float32", name="w", default_initializer=values)


CONVOLUTIONS: dict[str, tuple[list[int], Callable[[Any], Any]]] = {
    "SAME": ([2, 3, 5, 6], lambda x: F.conv2d(x, filters(4, 3, 3, 2), stride=2, padding="SAME")),
    "SAME that would dilate": ([2, 3, 5, 6], lambda x: F.conv2d(x, filters(4, 3, 2, 2), padding="SAME", dilation=2)),
    "VALID": ([2, 3, 5, 6], lambda x: F.conv2d(x, filters(4, 3, 3, 2), padding="VALID")),
    "channels last": ([2, 5, 6, 3], lambda x: F.conv2d(x, filters(4, 3, 3, 2), padding=1, data_format="NHWC")),
    "channels last, in groups": (
        [2, 5, 6, 4],
        lambda x: F.conv2d(x, filters(4, 1, 3, 2), stride=2, groups=4, data_format="NHWC"),
    ),
    "uneven padding": ([2, 3, 5, 6], lambda x: F.conv2d(x, filters(4, 3, 3, 2), padding=[1, 0, 2, 1])),
    "three dimensions": ([2, 3, 4, 5, 3], lambda x: F.conv3d(x, filters(2, 3, 3, 2, 2), stride=2, padding=1)),
    "three dimensions, SAME": ([1, 2, 4, 5, 3], lambda x: F.conv3d(x, filters(2, 2, 3, 2, 2), padding="SAME")),
    "three dimensions, channels last": (
        [1, 4, 5, 3, 2],
        lambda x: F.conv3d(x, filters(2, 2, 3, 2, 2), data_format="NDHWC"),
    ),
    "transposed": ([2, 3, 4, 5], lambda x: F.conv2d_transpose(x, filters(3, 2, 3, 2), stride=2, output_padding=1)),
    "transposed, of a size": (
        [2, 3, 4, 5],
        lambda x: F.conv2d_transpose(x, filters(3, 2, 3, 2), stride=2, output_size=[10, 11]),
    ),
    "transposed, SAME": ([2, 3, 4, 5], lambda x: F.conv2d_transpose(x, filters(3, 2, 3, 2), stride=2, padding="SAME")),
    "transposed, channels last": (
        [2, 4, 5, 3],
        lambda x: F.conv2d_transpose(x, filters(3, 2, 3, 2), stride=2, data_format="NHWC"),
    ),
    "transposed in three dimensions": (
        [1, 2, 3, 4, 2],
        lambda x: F.conv3d_transpose(x, filters(2, 3, 2, 2, 2), stride=2, padding=1),
    ),
    "maxima, channels last": ([2, 5, 6, 3], lambda x: F.max_pool2d(x, 3, 2, padding=1, data_format="NHWC")),
    "means, channels last": ([2, 5, 6, 3], lambda x: F.avg_pool2d(x, 3, 2, padding=1, data_format="NHWC")),
    "maxima, SAME": ([2, 3, 5, 6], lambda x: F.max_pool2d(x, 3, 2, padding="SAME")),
    "maxima in three dimensions": ([1, 2, 4, 5, 4], lambda x: F.max_pool3d(x, 2, 2, padding=1)),
    "means in three dimensions": ([1, 2, 4, 6, 4], lambda x: F.avg_pool3d(x, 2, 2)),
    "all of three dimensions": ([1, 2, 4, 5, 3], lambda x: F.adaptive_avg_pool3d(x, 1)),
}


@pytest.mark.parametrize("how", CONVOLUTIONS)
def test_windows_of_every_layout_and_padding(how: str) -> None:
    shape, function = CONVOLUTIONS[how]
    expect_gradients(function, shape)


def test_a_convolution_in_groups_of_a_batch_of_any_size() -> None:
    with program() as whole:
        x = paddle.static.data("x", [-1, 4, 5, 6])
        y = F.conv2d(x, filters(6, 2, 3, 2), stride=2, groups=2, padding=1)
        ((_, gradient),) = paddle.static.append_backward(paddle.mean(y * y))
        paddle.static.Executor().run(paddle.static.default_startup_program())
        rng = np.random.default_rng(2)
        feeds = ({"x": rng.standard_normal((n, 4, 5, 6)).astype("float32")} for n in (1, 3))
        expect_equal(whole, [y.name, gradient.name], *feeds)


def test_images_of_any_size_are_refused_where_the_padding_follows_from_it() -> None:
    with program() as whole:
        y = F.conv2d(paddle.static.data("x", [2, 3, -1, -1]), filters(4, 3, 3, 2), padding="SAME")
    with pytest.raises(UnsupportedError, match=r"conv2d \(with the padding SAME, of images of any size\)"):
        write(whole, global_scope().values, [y.name])


def test_a_step_of_gradient_descent() -> None:
    with program() as whole:
        x = paddle.static.data("x", [2, 3])
        loss = paddle.mean(paddle.static.nn.fc(x, 1, weight_attr="w", bias_attr=False))
        paddle.optimizer.SGD(0.5).minimize(loss)
        paddle.static.Executor().run(paddle.static.default_startup_program())
        before = np.array(global_scope().values["w"])
        data = write(whole, global_scope().values, ["w"])
        (after,) = computed(data, x=np.array([[1, 2, 3], [3, 2, 1]], "float32")).values()
    np.testing.assert_allclose(after, before - 0.5 * np.array([[2], [2], [2]], "float32"), rtol=1e-6)


LABELS: dict[str, Callable[[Any], Any]] = {
    "probabilities": lambda x: F.cross_entropy(F.softmax(x), _labels([4]), use_softmax=False, reduction="none"),
    "ignored": lambda x: F.cross_entropy(x, _labels([4]), ignore_index=1, reduction="none"),
    "ignored probabilities": lambda x: F.cross_entropy(
        F.softmax(x), _labels([4]), use_softmax=False, ignore_index=1, reduction="none"
    ),
    "soft labels": lambda x: F.cross_entropy(x, _shares([4, 3]), soft_label=True, reduction="none"),
    "soft labels of probabilities": lambda x: F.cross_entropy(
        F.softmax(x), _shares([4, 3]), soft_label=True, use_softmax=False, reduction="none"
    ),
    "another axis": lambda x: F.cross_entropy(
        paddle.reshape(x, [2, 3, 2]), _labels([2, 1, 2]), axis=1, reduction="none"
    ),
    "soft labels along another axis": lambda x: F.cross_entropy(
        paddle.reshape(x, [2, 3, 2]), _shares([2, 3, 2]), axis=1, soft_label=True, reduction="none"
    ),
}


def _labels(shape: list[int]) -> Any:
    return paddle.assign((np.arange(int(np.prod(shape))) % 3).reshape(shape))


def _shares(shape: list[int]) -> Any:
    return paddle.assign(np.random.default_rng(5).uniform(0.1, 0.9, shape).astype("float32"))


@pytest.mark.parametrize("how", LABELS)
def test_labels_of_every_kind(how: str) -> None:
    expect_gradients(LABELS[how], [4, 3])
