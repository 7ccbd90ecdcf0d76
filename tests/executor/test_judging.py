"""Whether all is in order, told by one event: the same stories as step by step, and the same numbers as unwatched."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.answers.coverage import Coverage
from gradtool.engine.answers.events import Adapter
from gradtool.engine.answers.nan import Hunt, NanStory
from gradtool.engine.core import watch
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.core.summary import InOrder, Uneventful
from gradtool.engine.executor import judging
from gradtool.engine.executor.lower import lower
from gradtool.engine.executor.plan import Plan, Step
from gradtool.engine.ir.default import fresh_programs
from gradtool.engine.kernels.choice import backend
from gradtool.engine.kernels.numba.fused import same
from tests import sampling
from tests.autodiff.nets import main
from tests.autodiff.random_programs import Net

F = paddle.nn.functional
RUNS = judging.COMPILED + 3


class StepByStep(Hunt):
    """The same search, which asks for every step."""

    summary_needs = None


class Heard:
    """Keeps what is told."""

    def __init__(self, asked: InOrder) -> None:
        self.summary_needs = asked
        self.told: list[Any] = []

    def __call__(self, event: Any) -> None:
        self.told.append(event)


def watched(run: Callable[[], Any], hunt: Hunt) -> tuple[Any, NanStory]:
    """What a run gives and what is found in it."""
    coverage = Coverage(hunt)
    adapter = Adapter(coverage)
    with watch.watch(adapter):
        values = run()
        adapter.finish()
    return values, hunt.story(coverage.find_missing())


def found(story: NanStory) -> Any:
    """What there is to compare of a story."""
    births = [[(b.kind, b.type, b.slot, b.name, b.count, b.cause, b.loc, b.nth) for b in each]
              for each in (story.births, story.absorbed, story.intended)]  # fmt: skip
    return births, story.carriers, sorted(story.victims), story.checked, story.unchecked, story.steps


def net(dropout: float = 0.0) -> tuple[Any, list[Any]]:
    """A program with small and large results, tables of rows, views and sums, and what is fetched."""
    x = paddle.static.data("x", [None, 48], "float32")
    ids = paddle.static.data("ids", [None], "int64")
    h = paddle.static.nn.fc(x, 40, name="first")
    h = h + paddle.static.nn.embedding(ids, [9, 40], is_sparse=True, param_attr=paddle.ParamAttr(name="table"))
    if dropout:
        h = F.dropout(h, dropout)
    a, b = paddle.split(paddle.log(h * h + 0.5), 2, axis=1)
    h = paddle.concat([paddle.sqrt(a + 2.0), paddle.transpose(paddle.transpose(b, [1, 0]), [1, 0])], axis=1)
    loss = paddle.mean(paddle.static.nn.fc(h, 3, name="last") ** 2)
    pairs = paddle.static.append_backward(loss)
    return loss, [loss, *(g for p, g in pairs if p.name != "table")]


def fed(rows: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"x": rng.standard_normal((rows, 48)).astype("float32"), "ids": rng.integers(0, 9, rows)}


@pytest.fixture(params=["numpy", "numba"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs the program above on a backend."""
    paddle.enable_static()
    _, fetched = net()
    exe = paddle.static.Executor(backend=request.param)
    exe.run(paddle.static.default_startup_program())
    return lambda feed: exe.run(main(), feed=feed, fetch_list=fetched)


def test_stories_are_those_of_single_steps(run: Callable[..., Any]) -> None:
    for n in range(RUNS + 12):
        data = fed(60 if n % 7 else 3, n)
        if n in (5, 6, 7, RUNS, RUNS + 5):
            data["x"][2, n % 48] = [np.nan, np.inf, 3e38][n % 3]
        expected, told = watched(lambda data=data: run(data), StepByStep())  # type: ignore[misc]
        values, judged = watched(lambda data=data: run(data), Hunt())  # type: ignore[misc]
        assert found(judged) == found(told), n
        assert all(map(same, values, expected)), n
        assert all(map(same, run(data), expected)), n


def test_a_training_is_watched_as_a_whole(run: Callable[..., Any]) -> None:
    feeds = [fed(8, n) for n in range(RUNS)]
    feeds[-2]["x"][:] = np.inf
    stories = []
    for hunt in (Hunt(), StepByStep()):
        _, story = watched(lambda: [run(feed) for feed in feeds], hunt)
        stories.append(found(story))
    assert stories[0] == stories[1]
    assert stories[0][0][0]


@pytest.mark.parametrize("on", ["numpy", "numba"])
def test_what_is_drawn_is_drawn_again(on: str) -> None:
    paddle.enable_static()
    _, fetched = net(dropout=0.5)
    exe = paddle.static.Executor(backend=on)
    exe.run(paddle.static.default_startup_program())
    feeds = [fed(8, n) for n in range(RUNS)]
    feeds[3]["x"][0, 0] = np.inf
    every = []
    for hunt in (None, Hunt(), StepByStep()):
        paddle.seed(7)
        every.append([])
        for feed in feeds:
            step = lambda feed=feed: exe.run(main(), feed=feed, fetch_list=fetched)  # noqa: E731
            every[-1] += step() if hunt is None else watched(step, hunt)[0]
    assert all(map(same, every[1], every[0]))
    assert all(map(same, every[2], every[0]))


@pytest.mark.parametrize("on", ["numpy", "numba"])
def test_branches_and_loops(on: str) -> None:
    paddle.enable_static()
    nn = paddle.static.nn
    x = paddle.static.data("x", [4, 30], "float32")
    w = paddle.static.create_parameter([30, 30], "float32", name="w")
    limit = paddle.static.data("limit", [1], "int64")
    big = paddle.static.data("big", [1], "bool")

    def turn(i: Any, h: Any) -> list[Any]:
        return [i + 1, paddle.tanh(paddle.matmul(h, w)) * 1.5]

    _, h = nn.while_loop(lambda i, h: i < limit, turn, [paddle.zeros([1], "int64"), x])
    h = nn.cond(big, lambda: paddle.sqrt(h + 2.0), lambda: h * 2.0)
    paddle.static.append_backward(paddle.mean(h))
    exe = paddle.static.Executor(backend=on)
    exe.run(paddle.static.default_startup_program())
    rng = np.random.default_rng(0)
    one = [0, 0]
    for n in range(RUNS + 6):
        data = rng.uniform(-1, 1, (4, 30)).astype("float32")
        if n in (4, RUNS + 2):
            data[1, 1] = np.nan
        feed = {"x": data, "limit": np.array([3 if n % 5 else 2]), "big": np.array([n % 3 > 0])}
        step = lambda feed=feed: exe.run(main(), feed=feed, fetch_list=[h, "w@GRAD"])  # noqa: E731
        expected, told = watched(step, StepByStep())
        values, judged = watched(step, counting := Counting())
        assert found(judged) == found(told), n
        assert all(map(same, values, expected)), n
        one[counting.lulls > 0] += 1
    assert one[1] > 3 * one[0]


class Counting(Hunt):
    """The same search, which counts what it is told in one."""

    lulls = 0

    def uneventful(self, quiet: Any) -> None:
        """As in the base."""
        self.lulls += 1
        super().uneventful(quiet)


def judged_by(of: Plan, regs: list[Any], heard: Heard) -> list[Any]:
    heard.told.clear()
    with watch.watch(heard):
        of.run(regs)
    return heard.told


@pytest.mark.parametrize("on", ["numpy", "numba"])
def test_random_programs(on: str) -> None:
    clean = 0
    for seed in range(40 if sampling.whole else 16):
        rng = random.Random(seed)
        with fresh_programs():
            paddle.enable_static()
            made = Net(
                [(rng.randrange(60), rng.randrange(60), rng.randrange(60), rng.randrange(60)) for _ in range(12)]
            )
            paddle.static.append_backward(made.loss)
            gradients = [v.name for v in main().list_vars() if v.name.endswith("@GRAD")]
            plan = lower(main(), list(made.feed), [made.loss.name, *gradients], backend(on))
        heard = Heard(InOrder())
        for n in range(4 if seed % 8 else RUNS):
            feeds = {k: v if n % 3 else v * 1e160 for k, v in made.feed.items()}
            values = {name: made.start[name] for name in plan.loads}
            regs, given = plan.registers(feeds, values), plan.registers(feeds, values)
            told = judged_by(plan, regs, heard)
            steps = [*plan.steps(given)]
            assert all(same(regs[r], given[r]) for r in plan.fetches)
            if isinstance(told[0], Uneventful):
                clean += 1
                assert all(np.isfinite(v).all() for s in steps for v in s.outputs if isinstance(v, np.ndarray))
                told = told[0].told
                assert [(i, op) for i, op, _, _ in told] == [(s.index, s.op) for s in steps]
                shapes = [[getattr(v, "shape", None) for v in gave] for *_, gave in told]
                assert shapes == [[getattr(v, "shape", None) for v in s.outputs] for s in steps]
            else:
                assert [(s.index, s.op) for s in told] == [(s.index, s.op) for s in steps]
    assert clean > seed


def test_the_largest_number_that_is_in_order() -> None:
    paddle.enable_static()
    x = paddle.static.data("x", [2000], "float32")
    y = paddle.static.data("y", [3], "float32")
    plan = lower(main(), ["x", "y"], [(x * 2.0).name, (y * 2.0).name], backend("numpy"))
    heard = Heard(InOrder(largest=10.0))
    good = {"x": np.full(2000, 4.9, "float32"), "y": np.full(3, 4.9, "float32")}
    for name in (None, "x", "y"):
        for _ in range(5):  # after a doubt, runs are told by steps for a while
            judged_by(plan, plan.registers(good, {}), heard)
        assert isinstance(heard.told[0], Uneventful)
        if name:
            bad = {**good, name: np.where(np.arange(good[name].size) == 1, -5.1, good[name]).astype("float32")}
            told = judged_by(plan, plan.registers(bad, {}), heard)
            assert [type(t) for t in told] == [Step, Step]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64", "float64"])
def test_other_types(dtype: str) -> None:
    paddle.enable_static()
    x = paddle.static.data("x", [4, 3], "float32")
    y = paddle.cast(x, dtype) * paddle.cast(x, dtype)
    plan = lower(main(), ["x"], [y.name], backend("numpy"))
    heard = Heard(InOrder())
    for value, clean in ((2.0, True), (2.0, True), (np.inf, False), (2.0, False), (2.0, True)):
        told = judged_by(plan, plan.registers({"x": np.full((4, 3), value, "float32")}, {}), heard)
        assert isinstance(told[0], Uneventful) == (clean and len(told) == 1), value
    assert isinstance(told[0], Uneventful)


def test_errors_come_where_they_do_step_by_step() -> None:
    paddle.enable_static()
    ids = paddle.static.data("ids", [3], "int64")
    rows = paddle.static.nn.embedding(ids, [4, 2])
    paddle.static.Executor().run(paddle.static.default_startup_program())
    table = main().all_parameters()[0].name
    plan = lower(main(), ["ids"], [(rows * 2.0).name], backend("numpy"))
    heard = Heard(InOrder())
    values = {table: np.ones((4, 2), "float32")}
    for _ in range(3):
        judged_by(plan, plan.registers({"ids": np.arange(3)}, values), heard)
    assert isinstance(heard.told[0], Uneventful)
    with pytest.raises(GradtoolError, match="lookup_table_v2"):
        judged_by(plan, plan.registers({"ids": np.array([0, 9, 1])}, values), heard)


def test_what_does_more_than_compute_runs_once(capsys: pytest.CaptureFixture[str]) -> None:
    paddle.enable_static()
    x = paddle.static.data("x", [2], "float32")
    y = paddle.static.Print(x * 2.0) * 3.0
    plan = lower(main(), ["x"], [y.name], backend("numpy"))
    heard = Heard(InOrder())
    for value in (1.0, np.inf):
        told = judged_by(plan, plan.registers({"x": np.full(2, value, "float32")}, {}), heard)
        assert all(isinstance(t, Step) for t in told)
    assert capsys.readouterr().out.count("Tensor[") <= 2
