"""``profile`` on JAX: whose the time of compiled programs is, and that it is all told; never how long it is."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers.profile import BESIDE, ProfileStory
from gradtool.engine.core.errors import BackendError
from gradtool.engine.kernels.jax.loop_rounds import turns
from gradtool.engine.kernels.jax.recording import Moment, alone, busy_time, record
from gradtool.engine.kernels.jax.scopes import path
from gradtool.engine.kernels.jax.shares import shares
from gradtool.paddle import static

from .leaving import Leaving

Build = Callable[[Any], Any]

TEXT = """\
HloModule jit_gradtool_0_0

%region_0.1 (a.1: f32[], b.1: f32[]) -> f32[] {
  ROOT %sum.9 = f32[] add(%a.1, %b.1), metadata={op_name="jit(p)/op3:sum/add"}
}

%fused_computation (p.0: f32[4,8], p.1: f32[8,2]) -> f32[4,2] {
  %p.0 = f32[4,8]{1,0} parameter(0)
  %p.1 = f32[8,2]{1,0} parameter(1)
  %constant.1 = f32[] constant(1), metadata={op_name="jit(p)/op9:fill_constant"}
  %tanh.0 = f32[4,8]{1,0} tanh(%p.0), metadata={op_name="jit(p)/op1:tanh/tanh" stack_frame_id=3}
  ROOT %dot.0 = f32[4,2]{1,0} dot(%tanh.0, %p.1), lhs_contracting_dims={1}, metadata={op_name="jit(p)/op2:mul/dot"}
}

%body (t.1: (s32[], f32[4,2])) -> (s32[], f32[4,2]) {
  %t.1 = (s32[], f32[4,2]{1,0}) parameter(0)
  %neg.1 = f32[4,2]{1,0} negate(%t.1), metadata={op_name="jit(p)/op4:while/while/body/op7:scale/neg"}
  ROOT %tuple.1 = (s32[], f32[4,2]{1,0}) tuple(%neg.1)
}

%small (t.2: (s32[], f32[4,2])) -> (s32[], f32[4,2]) {
  %t.2 = (s32[], f32[4,2]{1,0}) parameter(0)
  ROOT %while.9 = (s32[], f32[4,2]{1,0}) while(%t.2), condition=%cond, body=%body, metadata={op_name="jit(p)/op4:while"}
}

ENTRY %main.4 (x.1: f32[4,8], w.1: f32[8,2]) -> f32[] {
  %x.1 = f32[4,8]{1,0} parameter(0), metadata={op_name="x"}
  %fusion.1 = f32[4,2]{1,0} fusion(%x.1, %w.1), calls=%fused_computation, metadata={op_name="jit(p)/op2:mul/dot"}
  %copy.6 = f32[4,2]{1,0} copy(%fusion.1)
  %while.5 = (s32[], f32[4,2]{1,0}) while(%copy.6), body=%body, metadata={op_name="jit(p)/op4:while/while"}
  %call.1 = (s32[], f32[4,2]) call(%while.5), to_apply=%small, metadata={op_name="jit(p)/op4:while/while"}
  %flag.1 = pred[] compare(%x.1, %x.1), direction=NE
  ROOT %sum.1 = f32[] reduce(%while.5, %fusion.1), to_apply=%region_0.1, metadata={op_name="jit(p)/op3:sum/add"}
}
"""


def test_an_operation_is_whose_its_name_says_and_a_fusion_everybodys() -> None:
    told = shares(TEXT)
    assert told["fusion.1"].parts == {(1,): 32 / 96, (2,): 64 / 96}  # 4·8 elements; 4·2 of 8 products each
    assert told["while.5"].parts == {(4,): 1.0}
    assert told["call.1"].parts == {(4, 7): 1.0}  # a loop in which nothing is measured
    assert told["neg.1"].parts == {(4, 7): 1.0}
    assert told["sum.1"].parts == {(3,): 1.0}
    assert (told["copy.6"].parts, told["copy.6"].copies) == ({}, True)
    assert (told["flag.1"].parts, told["flag.1"].copies) == ({}, False)


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("jit(p)/op12:tanh/tanh", (12,)),
        ("jit(p)/op3:while/while/body/op11:tanh_grad/mul", (3, 11)),
        ("jit(p)/op3:conv2d/transpose(jvp())/op", (3,)),
        ("jit(shop4)/loop5:x", ()),
        ("x", ()),
    ],
)
def test_names(name: str, owner: tuple[int, ...]) -> None:
    assert path(name) == owner


def test_what_runs_within_something_is_not_counted_twice() -> None:
    line = [
        Moment(0, 10, "p", "while"),
        Moment(1, 4, "p", "add"),
        Moment(2, 3, "p", "inner"),
        Moment(4, 9, "p", "mul"),
        Moment(12, 15, "p", "exp"),
        Moment(14, 18, "p", "late"),  # ends after what it began in
    ]
    times = {m.name: time for m, time in alone(line)}
    assert times == {"while": 2, "add": 2, "inner": 1, "mul": 5, "exp": 2, "late": 4}
    assert busy_time(line, 0, 20) == 16
    assert busy_time(line, 3, 13) == 8


def _dense(x: Any) -> Any:
    h = static.nn.fc(x, 6, activation="tanh", name="first")
    return paddle.mean(static.nn.fc(h, 3, name="second") ** 2)


def _looped(x: Any) -> Any:
    y = static.nn.while_loop(
        lambda n, y: n < 3, lambda n, y: [n + 1, paddle.tanh(y)], [paddle.zeros([1], "int64"), static.nn.fc(x, 6)]
    )[1]
    return paddle.mean(y * 3)


def _split(x: Any) -> Any:
    return paddle.sum(paddle.tanh(paddle.masked_select(paddle.tanh(x), x > 0.2)))


pytestmark = pytest.mark.usefixtures("static_programs")


DYNAMIC = """\
import paddle

paddle.disable_static()
net = paddle.nn.Sequential(paddle.nn.Linear(4, 6), paddle.nn.Tanh(), paddle.nn.Linear(6, 3))
loss = paddle.nn.functional.cross_entropy(net(paddle.rand([3, 4])), paddle.to_tensor([0, 2, 1]))
"""


def story(build: Build, backend: str = "jax", leaving: Leaving | None = None) -> ProfileStory:
    gradtool.set_backend(backend)
    values = np.random.default_rng(3).random((4, 6)).astype("float32")
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        x = static.data("x", [4, 6])
        x.stop_gradient = False
        loss = build(x)
        static.Executor().run(static.default_startup_program())
        if leaving is None:
            return gradtool.profile(loss, {"x": values}, repeats=2)
        with leaving:
            return gradtool.profile(loss, {"x": values}, repeats=2)


@pytest.mark.parametrize("build", [_dense, _looped, _split])
def test_all_of_the_time_is_somebodys(build: Build) -> None:
    told = story(build)
    assert told.device is not None
    assert told.device.device == "cpu:0"
    assert len(told.device.elapsed) == 2
    assert {len(c.seconds) for c in told.costs} == {2}
    for n, elapsed in enumerate(told.device.elapsed):
        seconds = sum(c.seconds[n] for c in told.costs)
        assert seconds >= elapsed - 1e-8  # more where operations run at the same time
        waiting = next(c.seconds[n] for c in told.costs if c.name == "(waiting)")
        assert 0 <= waiting < elapsed
        assert 0 <= told.device.shared[n] <= seconds
    for key in ("op", "type", "layer", "line", "iteration", "part"):
        assert sum(sum(g.parts.values()) for g in told.group_by(key)) == pytest.approx(
            sum(statistics.median(c.seconds) for c in told.costs)
        )


def test_operators_are_those_of_numpy() -> None:
    here, there = story(_dense), story(_dense, "numpy")
    assert there.device is None
    listed = [(c.type, c.part, c.line, c.layer, c.nbytes) for c in here.costs if c.part != BESIDE]
    assert listed == [(c.type, c.part, c.line, c.layer, c.nbytes) for c in there.costs]
    assert sum(c.seconds[0] for c in here.costs if c.type == "mul") > 0
    assert [g.name for g in here.group_by("layer") if g.calls == 0] != []
    assert {c.name for c in here.costs if c.part == BESIDE} == {"(waiting)", "(copies)", "(beside operators)"}


def test_operators_in_a_loop_have_their_own_time() -> None:
    told = story(_looped)
    inside = [c for c in told.costs if c.inside]
    assert [c.type for c in inside if c.type in ("scale", "tanh", "tanh_grad")] == ["scale", "tanh", "tanh_grad"]
    assert sum(c.seconds[0] for c in inside) > 0
    assert any(g.name.startswith("forward while") and "#" not in g.name for g in told.group_by("iteration"))


def _rounds(x: Any) -> Any:
    """Loops in which products stand, which XLA does not make one operation of."""

    def inner(m: Any, z: Any) -> list[Any]:
        return [m + 1, paddle.tanh(paddle.matmul(z, z))]

    def outer(n: Any, y: Any) -> list[Any]:
        return [n + 1, static.nn.while_loop(lambda m, z: m < n, inner, [paddle.zeros([1], "int64"), y])[1]]

    start = [paddle.zeros([1], "int64"), static.nn.fc(paddle.matmul(x, x, transpose_x=True), 6)]
    return paddle.mean(static.nn.while_loop(lambda n, y: n < 3, outer, start)[1])


def test_rounds_are_told_apart_as_on_numpy() -> None:
    here, there = [
        {g.name: g.calls for g in story(_rounds, backend).group_by("iteration") if g.calls}
        for backend in ("jax", "numpy")
    ]
    assert here == there
    assert sum("#3 · while" in name for name in here) == 4  # two rounds in the third one, forward and backward


def test_a_round_begins_where_an_operation_of_the_loop_runs_again() -> None:
    told = shares(TEXT)
    assert (told["while.5"].loops, told["neg.1"].within, told["neg.1"].directly) == (True, "while.5", True)
    programs = {"p": {"loop": told["while.5"], "neg": replace(told["neg.1"], within="loop"), "sum": told["sum.1"]}}
    own = [Moment(2, 3, "p", "neg"), Moment(4, 6, "p", "neg")]
    lines = [[Moment(1, 3, "p", "loop"), own[0], Moment(7, 8, "p", "sum")], [own[1], Moment(9, 10, "q", "neg")]]
    assert [turns(lines, programs, {(4,): backwards}) for backwards in (False, True)] == [
        {own[0]: {(4,): 0}, own[1]: {(4,): 1}},
        {own[0]: {(4,): 1}, own[1]: {(4,): 0}},
    ]


def test_what_is_computed_between_parts_is_its_operators() -> None:
    told = story(_split)
    assert all(c.seconds[0] > 0 for c in told.costs if c.type == "masked_select")


@pytest.mark.parametrize("last", ["loss.backward()\n", ""])
def test_what_dynamic_mode_recorded_is_measured_as_one_program(tmp_path: Path, last: str) -> None:
    file = tmp_path / "model.py"
    file.write_text(DYNAMIC + last)
    told = {}
    for backend in ("numpy", "jax"):
        gradtool.set_backend(backend)
        told[backend] = gradtool.load(file).profile(repeats=2).story
    assert told["numpy"].device is None
    assert told["jax"].device is not None
    lines = [sorted((c.type, c.part, c.line, c.layer) for c in s.costs if c.part != BESIDE) for s in told.values()]
    assert lines[0] == lines[1]
    assert sum(sum(c.seconds) for c in told["jax"].costs if c.type == "matmul_v2") > 0


def test_nothing_leaves_the_device() -> None:
    leaving = Leaving()
    story(_dense, leaving=leaving)
    assert leaving.largest == 0


def test_two_recordings_at_a_time_are_refused(tmp_path: Any) -> None:
    jax.profiler.start_trace(str(tmp_path))
    try:
        with pytest.raises(BackendError, match="JAX's profiler"), record():
            raise AssertionError("it was recorded")
    finally:
        jax.profiler.stop_trace()
