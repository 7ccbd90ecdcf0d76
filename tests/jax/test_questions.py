"""``nan`` and ``stats`` on JAX: asked of the compiled plan, answered as on NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers import numbers
from gradtool.engine.core import watch
from gradtool.engine.core.state import random
from gradtool.engine.core.summary import InOrder
from gradtool.engine.kernels.jax import measuring, watcher_requests
from gradtool.engine.kernels.jax.watcher_requests import CompiledQuestion
from gradtool.paddle import static
from tests.sampling import sampled

Model = Callable[[], tuple[Any, dict[str, Any]]]


pytestmark = pytest.mark.usefixtures("static_programs")


@pytest.fixture
def stepped(monkeypatch: pytest.MonkeyPatch) -> list[range]:
    """The parts of plans that were gone through instruction by instruction, as something was wrong in them."""
    own, spans = CompiledQuestion.run_stepwise, list[range]()

    def step(self: CompiledQuestion, part: Any, *rest: Any) -> Any:
        spans.append(part.span)
        return own(self, part, *rest)

    monkeypatch.setattr(CompiledQuestion, "run_stepwise", step)
    return spans


def _fed(**values: Any) -> list[Any]:
    made = []
    for name, value in values.items():
        x = static.data(name, list(value.shape), str(value.dtype))
        x.stop_gradient = False
        made.append(x)
    return made


def _model(build: Callable[..., Any], **values: Any) -> Model:
    return lambda: (build(*_fed(**values)), values)


def _loop(x: Any) -> Any:
    n = paddle.zeros([1], "int64")
    body = lambda n, y: [n + 1, paddle.sqrt(y - 1)]  # noqa: E731
    return paddle.mean(static.nn.while_loop(lambda n, y: n < 3, body, [n, x])[1])


def _zeros() -> Any:
    return paddle.create_parameter([4], "float32", default_initializer=paddle.nn.initializer.Constant(0.0))


def full(value: float, dtype: str = "float32") -> Any:
    return np.full(4, value, dtype)


MODELS: dict[str, tuple[Model, bool]] = {
    "finite": (_model(lambda x: paddle.mean(paddle.tanh(x) ** 2), x=full(2)), True),
    "forward": (_model(lambda x: paddle.mean(paddle.log(x)), x=full(-1)), False),
    "backward": (_model(lambda x: paddle.mean(paddle.sqrt(x * _zeros())), x=full(3)), False),
    "float16": (_model(lambda x: paddle.mean(paddle.cast(x * x, "float32") * 1e-6), x=full(300, "float16")), False),
    "log of exp": (_model(lambda x: paddle.mean(paddle.log(paddle.exp(x))), x=full(-200)), False),
    "quotients": (
        _model(lambda a, b, c: paddle.mean(paddle.tanh(a / (b / c))), a=full(1e-20), b=full(1e-30), c=full(1e20)),
        False,
    ),
    "masked": (_model(lambda x: paddle.mean(paddle.where(x > 0, x, paddle.log(x))), x=full(0)), False),
    "loop": (_model(_loop, x=full(2)), False),
    "dropout": (_model(lambda x: paddle.mean(paddle.log(paddle.nn.functional.dropout(x))), x=full(3)), False),
}


def told(model: Model, backend: str, **asked: Any) -> tuple[Any, ...]:
    gradtool.set_backend(backend)
    programs = static.Program(), static.Program()
    with static.program_guard(*programs), static.scope_guard(static.Scope()):
        paddle.seed(7)
        loss, feed = model()
        static.Executor().run(static.default_startup_program())
        story = gradtool.nan(loss, feed, **asked)
    births = [(b.kind, b.part, b.type, b.count, b.cause, b.inside and len(b.inside)) for b in story.births]
    absorbed = [(b.kind, b.type, b.count) for b in story.absorbed]
    return story.clean, births, absorbed, story.carriers, story.checked, story.victims, story.steps, random.position


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_those_of_numpy(name: str, stepped: list[range]) -> None:
    model, enough = MODELS[name]
    assert told(model, "jax") == told(model, "numpy")
    assert (not stepped) is enough


def test_large_numbers_are_asked_for(stepped: list[range]) -> None:
    model = _model(lambda x: paddle.mean(x * x), x=full(30))
    assert told(model, "jax", big=1000.0) == told(model, "numpy", big=1000.0)
    assert not stepped
    assert told(model, "jax", big=100.0) == told(model, "numpy", big=100.0)
    assert len(stepped) == 1


def _chain(x: Any) -> Any:
    y = x
    for _ in range(30):
        y = paddle.tanh(y) * 0.9 + x
    return paddle.mean(paddle.log(y * 0.0))


def test_a_long_plan_is_judged_in_chunks(stepped: list[range], monkeypatch: pytest.MonkeyPatch) -> None:
    sent = list[int]()
    own = watcher_requests.home
    monkeypatch.setattr(watcher_requests, "home", lambda value: sent.append(1) or own(value))
    model = _model(_chain, x=full(0.5))
    assert told(model, "jax") == told(model, "numpy")
    assert len(stepped) == 1
    assert 0 < len(sent) < len(stepped[0])  # arrays of some of the operators have left the device


def test_compiled_parts_around_a_loop_are_judged(stepped: list[range]) -> None:
    def build(x: Any) -> Any:
        body = lambda n, y: [n + 1, paddle.sqrt(y - 1)]  # noqa: E731
        n = paddle.zeros([1], "int64")
        y = static.nn.while_loop(lambda n, y: n < 2, body, [n, paddle.tanh(x) + 9])[1]
        return paddle.mean(paddle.tanh(y))

    model = _model(build, x=full(2))
    assert told(model, "jax") == told(model, "numpy")
    assert not stepped


def _rounds(count: int, step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def build(x: Any) -> Any:
        body = lambda n, y: [n + 1, step(y)]  # noqa: E731
        n = paddle.zeros([1], "int64")
        return paddle.mean(static.nn.while_loop(lambda n, y: n < count, body, [n, static.nn.fc(x, 3) * 0 + 6])[1])

    return build


def _branch(limit: float) -> Callable[[Any], Any]:
    def build(x: Any) -> Any:
        h = static.nn.fc(x, 3) + 1e-3
        return paddle.mean(static.nn.cond(paddle.mean(h) > limit, lambda: paddle.log(h * h), lambda: paddle.tanh(h)))

    return build


def _nested(x: Any) -> Any:
    def step(y: Any) -> Any:
        return static.nn.cond(paddle.mean(y) > 3.0, lambda: paddle.tanh(y) * 2, lambda: y * y)

    return _rounds(3, step)(x)


def _growing(step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A loop of three rounds, with one of none, one and two rounds in it, and a branch in that."""

    def build(x: Any) -> Any:
        def inner(m: Any, z: Any) -> list[Any]:
            return [m + 1, static.nn.cond(paddle.mean(z) > 1.0, lambda: step(z), lambda: z * 1.5)]

        def outer(n: Any, y: Any) -> list[Any]:
            z = static.nn.while_loop(lambda m, z: m < n, inner, [paddle.zeros([1], "int64"), y])[1]
            return [n + 1, z * 1.25]

        start = [paddle.zeros([1], "int64"), static.nn.fc(x, 3) * 0 + 3]
        return paddle.mean(static.nn.while_loop(lambda n, y: n < 3, outer, start)[1])

    return build


def _several(x: Any) -> Any:
    drawn = _rounds(3, lambda y: paddle.tanh(paddle.nn.functional.dropout(y * 0.1, 0.5)))
    return drawn(x) + _rounds(0, paddle.tanh)(x) + _branch(-1e9)(x) + _branch(1e9)(x)


BLOCKS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "three rounds, none, a branch that is taken, one that is not": (_several, 0),
    "more rounds than rows": (_rounds(40, paddle.tanh), 0),
    "born in the last round": (_rounds(4, lambda y: paddle.sqrt(y - 1.6)), 1),
    "one in another": (_nested, 0),
    "a loop whose rounds are more each time, in a loop": (_growing(paddle.tanh), 0),
    "born in a loop in a loop": (_growing(lambda y: paddle.sqrt(y - 2.0)), 1),
}


@pytest.mark.parametrize("name", sampled(BLOCKS, str, 3, family=lambda name: str(BLOCKS[name][1])))
def test_rounds_and_branches_are_told_as_on_numpy(
    name: str, stepped: list[range], monkeypatch: pytest.MonkeyPatch
) -> None:
    build, parts = BLOCKS[name]
    values = np.random.default_rng(3).standard_normal((5, 6)).astype("float32")
    model = _model(build, x=values)
    sent = list[int]()
    own = watcher_requests.home
    monkeypatch.setattr(watcher_requests, "home", lambda value: sent.append(1) or own(value))
    assert told(model, "jax") == told(model, "numpy")
    assert len(stepped) == parts
    assert bool(sent) is bool(parts)  # nothing is told with arrays where nothing is wrong
    sent.clear()
    lines = [_measured_rounds(model, backend) for backend in ("jax", "numpy")]
    for here, there in zip(*lines, strict=True):
        assert here[:-1] == there[:-1]
        np.testing.assert_allclose(here[-1], there[-1], rtol=1e-4, atol=1e-7)
    assert not sent


def _measured_rounds(model: Model, backend: str) -> list[tuple[Any, ...]]:
    """Of each gradient operator what is counted, the rounds in their order, and the norm of each."""
    gradtool.set_backend(backend)
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        paddle.seed(7)
        loss, feed = model()
        static.Executor().run(static.default_startup_program())
        story = gradtool.stats(loss, feed)
    lines = []
    for o in story.operators:
        assert o.gradient is not None
        numbers_of = [o.gradient, *(n for _, n in o.runs)]
        counts = [(n.zeros, n.nonfinite, n.elements) for n in numbers_of]
        lines.append(
            (o.name, o.shape, counts, [[r.number for r in at] for at, _ in o.runs], [n.norm for n in numbers_of])
        )
    return lines


def test_an_answer_about_as_many_rounds_is_the_same_event(stepped: list[range]) -> None:
    gradtool.set_backend("jax")
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        loss, feed = _model(_rounds(3, paddle.tanh), x=np.ones((5, 6), "float32"))()
        executor = static.Executor()
        executor.run(static.default_startup_program())
        gradients = [g for _, g in static.append_backward(loss)]
        heard: list[Any] = []

        def hear(event: Any) -> None:
            heard.append(event)

        hear.summary_needs = InOrder()  # type: ignore[attr-defined]
        with watch.watch(hear):
            for _ in range(2):
                executor.run(static.default_main_program(), feed=feed, fetch_list=[loss, *gradients])
    first, second = heard
    assert first is second
    assert [e.run for e in first.told if isinstance(e, watch.Entered)] == [0, 1, 2, 2, 1, 0]
    assert not stepped


def _layers(x: Any) -> Any:
    w = paddle.create_parameter([3, 4], "float32", default_initializer=paddle.nn.initializer.Constant(0.3))
    table = paddle.create_parameter([6, 3], "float32", default_initializer=paddle.nn.initializer.Constant(0.1))
    rows = paddle.nn.functional.embedding(paddle.argmax(x, axis=0), table)
    loss = paddle.mean(paddle.tanh(paddle.matmul(paddle.tanh(x) + rows, w)) ** 2)
    return loss + paddle.sum(paddle.nn.functional.relu(x) * 1e-30) + paddle.sum(paddle.log(x))


def _looped(x: Any) -> Any:
    y = static.nn.while_loop(
        lambda n, y: n < 2, lambda n, y: [n + 1, paddle.tanh(y)], [paddle.zeros([1], "int64"), x * x]
    )[1]
    return paddle.mean(y * 3)


@pytest.mark.parametrize("build", [_layers, _looped])
def test_gradients_are_measured_where_they_are(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.array([[-2, 0, 3], [0.5, 1e-20, 5], [1, 2, -1e-42]], "float32")
    stories = []
    for name in ("numpy", "jax"):
        gradtool.set_backend(name)
        with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
            loss, feed = _model(build, x=values)()
            static.Executor().run(static.default_startup_program())
            if name == "jax" and build is _layers:
                monkeypatch.setattr(numbers.Numbers, "_measure_block", None)  # what measures NumPy's arrays
            stories.append(gradtool.stats(loss, feed))
    for here, there in zip(*[[*s.parameters, *s.operators] for s in stories], strict=True):
        assert (here.name, here.shape, here.dtype) == (there.name, there.shape, there.dtype)
        a, b = here.gradient, there.gradient
        assert a is not None
        assert b is not None
        counts = [(n.zeros, n.nonfinite, n.nan, n.elements, n.decades) for n in (a, b)]
        assert counts[0] == counts[1]
        sizes = [(n.norm, n.largest, n.mean) for n in (a, b)]
        np.testing.assert_allclose(*sizes, rtol=1e-6)
        np.testing.assert_allclose(here.weight or 0, there.weight or 0, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_numbers_of_any_bits_are_counted_as_numpy_counts_them(dtype: str) -> None:
    kind = jax.numpy.dtype(dtype)
    rng = np.random.default_rng(5)
    with np.errstate(all="ignore"):
        drawn = rng.integers(0, 256, (3000, kind.itemsize), "uint8").view(kind)
        drawn = drawn[~(np.abs(drawn.astype("float64")) > 1e290)]  # sums of larger ones are infinite in some orders
        powers = np.array([float(f"1e{n}") for n in range(-330, 290)]).astype(kind)
    for values in (drawn, powers, np.array([np.inf, 1, -0.0, np.nan]).astype(kind), np.full(3, np.nan).astype(kind)):
        with np.errstate(all="ignore"):
            expected = numbers.Numbers.measure(values)
        here = numbers.Numbers(**measuring.measure(measuring.lay(jax.numpy.asarray(values))))
        assert here.decades == expected.decades
        counts = [(n.zeros, n.nonfinite, n.nan, n.elements) for n in (here, expected)]
        assert counts[0] == counts[1]
        np.testing.assert_array_equal(here.largest, expected.largest)
        np.testing.assert_allclose(here.norm, expected.norm, rtol=1e-12)
        np.testing.assert_allclose(here.mean, expected.mean, rtol=1e-12, atol=1e-12 * np.nan_to_num(here.largest))
