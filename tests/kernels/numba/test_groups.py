"""The pass that finds groups, on plans where it matters and where it must not do anything; and layouts."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.executor.lower import lower
from gradtool.engine.executor.plan import Plan
from gradtool.engine.kernels.choice import backend
from gradtool.engine.kernels.numba import layout
from gradtool.engine.kernels.numba.groups import InstructionGroup, group_code
from gradtool.engine.kernels.numba.tuning import observe
from tests.autodiff.nets import data, main, op
from tests.kernels.numba.interpreted import always, callable_from_c, tuned

X = np.arange(6.0).reshape(2, 3)


def plan(*fetch: Any) -> Plan:
    return lower(main(), ["x"], [v.name for v in fetch], backend("numpy"))


def registers(of: Plan, fed: Any = X) -> list[Any]:
    return of.registers({"x": fed.copy()}, {})


def steps(of: Plan, pays: Any = always, fed: Any = X) -> list[Any]:
    """What is carried out: a type, or the types of a group."""
    sights = observe(of, of.steps(registers(of, fed)))
    held = {r for i in of.instructions for r in i.outs} - {r for i in of.instructions for r in i.dead}
    names = [i.op.type if i.op is not None else "release" for i in of.instructions]
    parts = group_code(of.instructions, sights, held, pays)
    return [[names[m] for m in p.members] if isinstance(p, InstructionGroup) else names[p] for p in parts]


def test_neighbours_are_one_group_through_broadcasting_and_sums_of_rows() -> None:
    x = data("x", 2, 3)
    centred = x - paddle.mean(x, axis=1, keepdim=True)
    y = paddle.nn.functional.softmax(paddle.tanh(centred) * 2.0)
    kinds = steps(plan(y))
    assert kinds == [["reduce_mean", "elementwise_sub", "tanh", "scale", "softmax"]]


def test_what_is_no_element_by_element_stands_between_groups_and_keeps_its_place() -> None:
    x = data("x", 2, 3)
    a = paddle.exp(paddle.tanh(x))
    b = paddle.transpose(a, [1, 0])
    c = paddle.exp(b * 0.5)
    # Of columns: NumPy lays its results out as its operands, and so everything after them stays NumPy's.
    assert steps(plan(c)) == [["tanh", "exp"], "transpose2", "scale", "exp"]


WIDE = np.arange(12.0).reshape(2, 6)


def test_parts_of_wider_arrays_are_operands_and_others_are_not() -> None:
    left, right = paddle.split(data("x", 2, 6), 2, axis=1)
    of = plan(paddle.exp(paddle.tanh(left) * right), left)  # others read a part, so it is a view for all
    (kernel,) = tuned(of, registers(of, WIDE))
    assert [op.type for op in kernel.operators] == ["tanh", "elementwise_mul", "exp"]
    expected = np.exp(np.tanh(WIDE[:, :3]) * WIDE[:, 3:])
    for _ in range(2):
        regs = registers(of, WIDE)
        of.run(regs)
        np.testing.assert_array_equal(regs[of.fetches[0]], expected)
    assert kernel.verified
    assert not kernel.differs

    def never(*operands: Any) -> None:
        raise AssertionError

    kernel._function = never  # what lies otherwise is left to NumPy
    turned = np.asfortranarray(WIDE[:, :3])
    for operands in ([turned, turned], [WIDE[:, 1::2], WIDE[:, 1::2]]):
        (result,) = kernel(*operands)
        np.testing.assert_array_equal(result, np.exp(np.tanh(operands[0]) * operands[1]))
        assert result.flags.f_contiguous == operands[0].flags.f_contiguous


def test_sums_of_what_has_gaps_are_numpys() -> None:
    left, _ = paddle.split(data("x", 2, 6), 2, axis=1)
    of = plan(paddle.nn.functional.softmax(left), paddle.nn.functional.softmax(left + 1.0))
    assert steps(of, fed=WIDE) == ["split", "softmax", ["scale", "softmax"]]


def test_random_numbers_are_drawn_in_their_order_and_by_nobody_else() -> None:
    x = data("x", 2, 3)
    first = paddle.exp(paddle.rand([2, 3], dtype="float64") + x)
    y = first * paddle.rand([2, 3], dtype="float64")
    of = plan(y)
    assert steps(of) == ["uniform_random", "uniform_random", ["elementwise_add", "exp", "elementwise_mul"]]


def test_what_is_let_go_of_while_its_shape_is_needed_is_within_groups() -> None:
    x = data("x", 2, 800)
    x.stop_gradient = False
    h = paddle.tanh(x) * 0.5 + x  # the gradient of a sum needs the shape of what was added, and no more
    loss = paddle.sum(paddle.exp(paddle.tanh(h)))
    paddle.static.append_backward(loss)
    of = plan(loss, main().global_block().var("x@GRAD"))
    fed = np.linspace(-1.0, 1.0, 1600).reshape(2, 800)
    assert "release" in [i.op.type if i.op is not None else "release" for i in of.instructions]
    assert steps(of, fed=fed)[0][:6] == ["tanh", "scale", "elementwise_add", "release", "tanh", "exp"]
    regs = registers(of, fed)
    of.run(regs)
    expected = [regs[r] for r in of.fetches]
    kernels = tuned(of, registers(of, fed))
    for _ in range(2):
        regs = registers(of, fed)
        of.run(regs)
        for a, r in zip(expected, of.fetches, strict=True):
            np.testing.assert_array_equal(a, regs[r])
    assert not any(k.differs for k in kernels)


def test_what_was_broadcast_is_an_operand_as_it_was_before_and_is_added_up_by_numpy() -> None:
    x = data("x", 2, 800)
    x.stop_gradient = False
    bias = paddle.static.create_global_var([800], 0.5, "float64", persistable=True)
    bias.stop_gradient = False
    loss = paddle.sum(paddle.exp(paddle.tanh(x)) + bias)
    paddle.static.gradients(loss, [x, bias])
    of = plan(*[main().global_block().var(f"{name}@GRAD") for name in ("x", bias.name)])
    fed = np.linspace(-1.0, 1.0, 1600).reshape(2, 800)
    regs = of.registers({"x": fed}, {bias.name: np.full(800, 0.5)})
    kinds = [[op.type for op in k.operators] for k in tuned(of, regs)]
    assert kinds[-1] == ["exp_grad", "tanh_grad"]
    assert "elementwise_add_grad" not in {kind for group in kinds for kind in group}
    backward = of.path[0][-1].kernel
    shapes = [seen.base for seen in backward.group.seen.values()]
    assert (1, 1) in shapes
    assert (2, 800) in shapes
    regs = of.registers({"x": fed}, {bias.name: np.full(800, 0.5)})
    of.run(regs)
    y = np.tanh(fed)
    np.testing.assert_array_equal(regs[of.fetches[0]], np.exp(y) * (1 - y * y))
    np.testing.assert_array_equal(regs[of.fetches[1]], np.full(800, 2.0))
    assert not backward.differs

    def never(*operands: Any) -> None:
        raise AssertionError

    backward._function = never  # what lies otherwise is left to NumPy
    values = [np.full(s.shape, 2.0) for s in backward.group.seen.values()]
    assert all(np.isfinite(v).all() for v in backward(*values))


def test_small_groups_do_not_pay() -> None:
    y = paddle.tanh(data("x", 2, 3)) + 1.0
    assert steps(plan(y), None) == ["tanh", "scale"]


def test_single_steps_are_seen_one_by_one() -> None:
    y = paddle.exp(paddle.tanh(data("x", 2, 3)))
    of = plan(y)
    (kernel,) = tuned(of, registers(of))
    assert len(kernel.members) == 2
    assert [s.op.type for s in of.steps(registers(of))] == ["tanh", "exp"]


def test_a_difference_of_one_bit_ends_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    y = paddle.exp(paddle.tanh(data("x", 2, 3)))
    of = plan(y)

    def wrong(source: Any, dtypes: Any) -> Any:
        def group(x: Any, out: Any) -> None:
            out[:] = np.nextafter(np.exp(np.tanh(x)), 9.0)

        return callable_from_c(group, source, dtypes)

    (kernel,) = tuned(of, registers(of), wrong)
    for _ in range(2):
        regs = registers(of)
        of.run(regs)
        np.testing.assert_array_equal(regs[of.fetches[0]], np.exp(np.tanh(X)))
    assert kernel.differs


@pytest.mark.parametrize("other", [X[:1], X.astype("float32"), np.asfortranarray(X), X[:, ::-1], np.float64(2.0)])
def test_what_was_not_seen_is_left_to_numpy(other: Any) -> None:
    y = paddle.exp(paddle.tanh(data("x", 2, 3)))
    of = plan(y)
    (kernel,) = tuned(of, registers(of))
    of.run(registers(of))
    assert kernel.verified
    (result,) = kernel(other)
    np.testing.assert_array_equal(result, np.exp(np.tanh(other)))
    assert np.asarray(result).flags.f_contiguous == np.exp(other).flags.f_contiguous


def test_a_type_may_be_another_object_and_numbers_may_stand_for_arrays() -> None:
    x, scalar = data("x", 2, 3), data("scalar")
    of = lower(main(), ["x", "scalar"], [paddle.exp(paddle.tanh(x) * scalar).name], backend("numpy"))
    number = np.full((), 2.0)
    (kernel,) = tuned(of, of.registers({"x": X.copy(), "scalar": number}, {}))
    of.run(of.registers({"x": X.copy(), "scalar": number}, {}))
    assert kernel.verified
    other = pickle.loads(pickle.dumps(X))
    twin = np.dtype(np.float64).newbyteorder("S").newbyteorder("S")
    kernel.separately = lambda values: pytest.fail("NumPy computed it")
    for values in ([other, number], [X.copy().view(twin), number], [X.copy(), np.float64(2.0)]):
        (result,) = kernel(*values)
        np.testing.assert_array_equal(result, np.exp(np.tanh(X) * 2.0))
        assert result.dtype is np.dtype(np.float64)


def test_errors_of_members_name_their_operator() -> None:
    y = paddle.exp(op("tanh", data("x", 2, 3)))
    of = plan(y)
    (kernel,) = tuned(of, registers(of))
    with pytest.raises(Exception, match="tanh failed") as caught:
        kernel("text")
    assert "tanh(" in str(caught.value)


ROWS = ((6, True), (4, False))
COLUMNS = ((6, False), (4, True))


def test_layouts() -> None:
    assert layout.broadcast_layout((3,), (2, 3)) == ((2, False), (3, True))
    assert layout.broadcast_layout((2, 1), (2, 3)) == ((2, True), (3, False))
    assert layout.broadcast_layout((1, 4, 1), (5, 4, 1)) == ((5, False), (4, True))
    assert layout.compose(((2, True), (3, False)), ROWS) == ((2, True), (12, False))
    assert layout.compose(((3, False), (8, True)), ((24, True),)) == ((3, False), (8, True))
    assert layout.dimensions([ROWS, COLUMNS, ((24, True),), ((2, True), (12, False))], 24) == [2, 3, 4]
    assert layout.pattern(((2, True), (12, False)), [2, 3, 4]) == (True, False, False)
    assert layout.pattern((), [2, 3, 4]) == (False, False, False)


@pytest.mark.parametrize(("part", "whole"), [(((5, True),), ROWS), (((4, True), (3, False)), ((9, True), (2, False)))])
def test_layouts_that_do_not_go_together(part: layout.Layout, whole: layout.Layout) -> None:
    with pytest.raises(layout.NoLayout):
        layout.compose(part, whole)


def test_loops_that_there_are_not() -> None:
    with pytest.raises(layout.NoLayout):
        layout.dimensions([((6, True), (4, False)), ((4, True), (6, False))], 24)
