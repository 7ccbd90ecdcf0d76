"""Building branches and loops: what enters the program, what is refused, and that a refused call changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import (
    ArgumentTypeError,
    DtypeError,
    LossError,
    ShapeError,
    UnsupportedError,
    UsageError,
)
from gradtool.engine.ir.strip import strip_backward
from gradtool.engine.ir.verify import verify

static = paddle.static
nn = paddle.static.nn


class Names:
    """The variables of the program under construction."""

    def __init__(self) -> None:
        self.main, self.startup = static.Program(), static.Program()
        with static.program_guard(self.main, self.startup):
            self.x = static.data("x", [2, 3])
            self.i = static.data("i", [1], "int64")
            self.b = static.data("b", [1], "bool")
            self.n = static.data("n", [1], "int64")


@pytest.fixture
def names() -> Iterator[Names]:
    paddle.enable_static()
    variables = Names()
    with static.program_guard(variables.main, variables.startup):
        yield variables
    paddle.disable_static()


REFUSED: list[tuple[Callable[[Names], Any], type[Exception]]] = [
    (lambda v: nn.while_loop(3, lambda i: [i + 1], [v.i]), TypeError),
    (lambda v: nn.while_loop(lambda i: i < v.n, 3, [v.i]), TypeError),
    (lambda v: nn.while_loop(lambda i: i < v.n, lambda i: [i + 1], v.i), TypeError),
    (lambda v: nn.while_loop(lambda i: i < v.n, lambda i: [i + 1], []), ValueError),
    (lambda v: nn.while_loop(lambda i: i < v.n, lambda i: [i + 1, i], [v.i]), ValueError),
    (lambda v: nn.while_loop(lambda i: i, lambda i: [i + 1], [v.i]), TypeError),
    (lambda v: nn.while_loop(lambda i: True, lambda i: [i + 1], [v.i]), TypeError),
    (lambda v: nn.while_loop(lambda i: v.x > 1.0, lambda i: [i + 1], [v.i]), TypeError),
    (lambda v: nn.while_loop(lambda i, k: i < v.n, lambda i, k: [i + 1, [k[0], v.x]], [v.i, [v.x]]), ValueError),
    (lambda v: nn.while_loop(lambda i, k: i < v.n, lambda i, k: [i + 1, k + 1], [v.i, 3]), TypeError),
    (lambda v: nn.while_loop(lambda i: i < v.n, lambda i: [i.astype("float32")], [v.i]), DtypeError),
    (lambda v: nn.while_loop(lambda i, x: i < v.n, lambda i, x: [i, paddle.sum(x)], [v.i, v.x]), ShapeError),
    (lambda v: nn.case(3), TypeError),
    (lambda v: nn.case([]), IndexError),
    (lambda v: nn.case([3]), TypeError),
    (lambda v: nn.case([(v.b,)]), TypeError),
    (lambda v: nn.case([(v.x, lambda: v.x)]), TypeError),
    (lambda v: nn.case([(v.b, 3)]), TypeError),
    (lambda v: nn.case([(v.b, lambda: v.x)], default=3), TypeError),
    (lambda v: nn.switch_case(3, [lambda: v.x]), TypeError),
    (lambda v: nn.switch_case(v.x, [lambda: v.x]), TypeError),
    (lambda v: nn.switch_case(v.i, 3), TypeError),
    (lambda v: nn.switch_case(v.i, []), IndexError),
    (lambda v: nn.switch_case(v.i, [(1, lambda: v.x), (1, lambda: v.x)]), ValueError),
    (lambda v: nn.switch_case(v.i, {"a": lambda: v.x}), TypeError),
    (lambda v: nn.switch_case(v.i, [(1, 2)]), TypeError),
    (lambda v: nn.switch_case(v.i, [(1, lambda: v.x, 3)]), TypeError),
    (lambda v: nn.switch_case(v.i, [3]), TypeError),
    (lambda v: nn.switch_case(v.i, [lambda: v.x], default=3), TypeError),
    (lambda v: nn.cond(True, lambda: v.x, lambda: v.x), TypeError),
    (lambda v: nn.cond(v.x, lambda: v.x, lambda: v.x), TypeError),
    (lambda v: nn.cond(v.b, 3, lambda: v.x), TypeError),
    (lambda v: nn.cond(v.b, lambda: v.x, 3), TypeError),
    (lambda v: nn.cond(v.b, lambda: v.x, lambda: v.x, name=3), TypeError),
    (lambda v: nn.cond(v.b, lambda: v.x, lambda: None), ValueError),
    (lambda v: nn.cond(v.b, lambda: v.x), ValueError),
    (lambda v: nn.cond(v.b, lambda: v.x, lambda: (v.x, v.x)), ValueError),
    (lambda v: nn.cond(v.b, lambda: [v.x, [v.x]], lambda: [v.x, [v.x, v.x]]), ValueError),
    (lambda v: nn.cond(v.b, lambda: {"a": v.x}, lambda: {"b": v.x}), ValueError),
    (lambda v: nn.cond(v.b, lambda: "a", lambda: v.x), TypeError),
    (lambda v: nn.cond(v.b, lambda: 1, lambda: 2.0), TypeError),
    (lambda v: nn.cond(v.b, lambda: [None, v.x], lambda: [v.x, v.x]), TypeError),
    (lambda v: nn.cond(v.b, lambda: 1 / 0, lambda: v.x), ZeroDivisionError),
    (lambda v: nn.cond(v.b, lambda: v.x, lambda: nn.fc(v.x, 4) @ v.x), ShapeError),
]


@pytest.mark.parametrize("at", range(len(REFUSED)))
def test_what_is_refused_changes_nothing(names: Names, at: int) -> None:
    call, error = REFUSED[at]
    before = (str(names.main), str(names.startup), _counts(names.main))
    with pytest.raises(error):
        call(names)
    assert names.main.current_block_idx == 0
    assert (str(names.main), str(names.startup), _counts(names.main)) == before
    verify(names.main)


def _counts(program: Any) -> dict[str, int]:
    return {k: n for k, n in program.names.every_count().items() if n}


def test_a_body_that_fails_leaves_both_programs_as_they_were(names: Names) -> None:
    h = names.x * 2.0
    before, startup = str(names.main), str(names.startup)

    def body(i: Any, h: Any) -> Any:
        def on_true() -> Any:
            nn.fc(h, 3)
            raise KeyError("inside")

        return [i + 1, nn.cond(names.b, on_true, lambda: h)]

    for _ in range(2):
        with pytest.raises(KeyError, match="inside"):
            nn.while_loop(lambda i, h: i < names.n, body, [names.i, h])
        assert (str(names.main), str(names.startup)) == (before, startup)
        assert names.main.open_loops == 0
    assert nn.fc(h, 3).name == "fc_0.tmp_1"


def test_a_failure_after_a_value_from_before_a_loop_was_used(names: Names) -> None:
    h = names.x * 2.0
    _, after = nn.while_loop(lambda i, h: i < names.n, lambda i, h: [i + 1, h + 1.0], [names.i, h])
    out = after * 3.0
    before = str(names.main)

    def on_true() -> Any:
        paddle.exp(h)  # saves the value in front of the loop
        raise KeyError("inside")

    with pytest.raises(KeyError):
        nn.cond(names.b, on_true, lambda: out)
    assert str(names.main) == before
    verify(names.main)
    feed = {"x": np.ones((2, 3), "f"), "i": np.array([0]), "n": np.array([3])}
    got = static.Executor().run(names.main, feed=feed, fetch_list=[out, h + after])
    assert [float(v[0, 0]) for v in got] == [15.0, 7.0]


def test_the_value_before_the_loop_inside_its_body(names: Names) -> None:
    h = names.x * 2.0
    _, after = nn.while_loop(lambda i, k: i < names.n, lambda i, k: [i + 1, k + h], [names.i, h])
    verify(names.main)
    feed = {"x": np.ones((2, 3), "f"), "i": np.array([0]), "n": np.array([3])}
    assert static.Executor().run(names.main, feed=feed, fetch_list=[after])[0][0, 0] == 8.0


def test_numbers_that_are_the_same_stay_numbers(names: Names) -> None:
    assert nn.cond(names.b, lambda: 1, lambda: 1) == 1
    assert nn.cond(names.b, lambda: None, lambda: None) is None
    assert nn.cond(names.b) is None
    number = nn.cond(names.b, lambda: 1, lambda: 2)
    assert (number.shape, number.dtype.name) == ((), "int64")


def test_shapes_that_differ_become_unknown(names: Names) -> None:
    rows = nn.cond(names.b, lambda: names.x, lambda: paddle.zeros([4, 3]))
    assert rows.shape == (-1, 3)
    out = static.Executor().run(feed={"x": np.ones((2, 3), "f"), "b": np.array([False])}, fetch_list=[rows])[0]
    assert out.shape == (4, 3)


def test_structures_come_back(names: Names) -> None:
    structure = nn.cond(
        names.b, lambda: {"a": names.x, "b": (names.i, [2.0])}, lambda: {"b": (names.n, [2.0]), "a": names.x}
    )
    assert set(structure) == {"a", "b"}
    assert isinstance(structure["b"], tuple)
    assert structure["b"][1] == [2.0]


def test_parameters_of_a_branch_live_in_the_main_block(names: Names) -> None:
    nn.cond(names.b, lambda: nn.fc(names.x, 2, name="t"), lambda: nn.fc(names.x, 2, name="f"))
    assert [p.name for p in names.main.global_block().all_parameters()] == ["t.w_0", "t.b_0", "f.w_0", "f.b_0"]
    assert [p.name for p in names.main.all_parameters()] == ["t.w_0", "t.b_0", "f.w_0", "f.b_0"]
    assert len(names.startup.global_block().ops) == 4


def test_the_operator_knows_its_block(names: Names) -> None:
    nn.cond(names.b, lambda: names.x * 2.0, lambda: names.x)
    op = next(o for o in names.main.global_block().ops if o.type == "conditional_block")
    assert op.attr("sub_block") is names.main.block(1) is op._block_attr("sub_block")
    assert op._block_attr_id("sub_block") == 1
    assert "sub_block = block[1]" in str(op)
    assert names.main.block(1).parent_idx == 0


def test_variables_of_outer_blocks_are_found(names: Names) -> None:
    places = []

    def on_true() -> Any:
        block = names.main.current_block()
        places.append((block.idx, block.parent_idx, block._find_var_recursive("x"), block.has_var("x")))
        return names.x * 2.0

    nn.cond(names.b, on_true, lambda: names.x)
    assert places == [(1, 0, names.x, False)]


def test_a_copy_for_testing_keeps_the_forward_blocks(names: Names) -> None:
    w = static.create_parameter([3], "float32", name="w")
    h = nn.cond(names.b, lambda: paddle.nn.functional.dropout(names.x * w), lambda: names.x * 1.0)
    _, h = nn.while_loop(lambda i, h: i < names.n, lambda i, h: [i + 1, h * w], [names.i, h])
    static.append_backward(paddle.mean(h))
    assert names.main.num_blocks == 6
    copied = names.main.clone(for_test=True)
    verify(copied)
    assert copied.num_blocks == 4
    assert not any("@GRAD" in v.name for v in copied.list_vars())
    assert [o.attr("is_test") for o in copied.block(1).ops if o.type == "dropout"] == [True]
    assert [b.backward_block_idx for b in copied.blocks] == [-1] * 4
    feed = {"x": np.ones((2, 3), "f"), "b": np.array([True]), "i": np.array([0]), "n": np.array([2])}
    scope = static.Scope()
    static.Executor().run(names.startup, scope=scope)
    assert static.Executor().run(copied, feed=feed, fetch_list=[h.name], scope=scope)[0].shape == (2, 3)


def test_taking_the_backward_part_out_takes_its_blocks_along(names: Names) -> None:
    w = static.create_parameter([3], "float32", name="w")
    h = nn.cond(names.b, lambda: names.x * w, lambda: names.x * 1.0)
    loss = paddle.mean(nn.while_loop(lambda i, h: i < names.n, lambda i, h: [i + 1, h * w], [names.i, h])[1])
    before = str(names.main)
    static.append_backward(loss)
    strip_backward(names.main)
    verify(names.main)
    assert str(names.main) == before.replace("op_role = 256", "op_role = 0")


def test_values_inside_a_block_cannot_be_fetched(names: Names) -> None:
    nn.cond(names.b, lambda: names.x * 2.0, lambda: names.x)
    feed = {"x": np.ones((2, 3), "f"), "b": np.array([True])}
    inner = next(iter(names.main.block(1).vars))
    for name in (inner, "_generated_var_1"):
        with pytest.raises(RuntimeError, match="cannot fetch"):
            static.Executor().run(names.main, feed=feed, fetch_list=[name])


def test_a_result_of_the_branch_not_taken_fetches_as_none(names: Names) -> None:
    nn.cond(names.b, lambda: names.x * 2.0, lambda: names.x)
    fetched = ["_generated_var_0", "_generated_var_2"]
    for taken in (True, False):
        feed = {"x": np.ones((2, 3), "f"), "b": np.array([taken])}
        values = static.Executor().run(names.main, feed=feed, fetch_list=fetched)
        assert [v is None for v in values] == [not taken, taken]


def test_the_branch_not_taken_is_not_computed(names: Names) -> None:
    calls: list[str] = []

    def noted(name: str) -> Any:
        out = names.main.current_block().create_var(shape=[2, 3], dtype="float32")
        return static.py_func(lambda a: calls.append(name) or a, names.x, out)

    y = nn.cond(names.b, lambda: noted("true"), lambda: noted("false"))
    for taken in (True, False):
        static.Executor().run(names.main, feed={"x": np.ones((2, 3), "f"), "b": np.array([taken])}, fetch_list=[y])
    assert calls == ["true", "false"]


def test_an_error_inside_a_block_names_the_operator(names: Names) -> None:
    y = nn.cond(names.b, lambda: paddle.gather(names.x, names.i), lambda: names.x)
    feed = {"x": np.ones((2, 3), "f"), "b": np.array([True]), "i": np.array([5])}
    with pytest.raises(RuntimeError) as caught:
        static.Executor().run(names.main, feed=feed, fetch_list=[y])
    assert "gather(" in str(caught.value)
    assert "test_building_branches_and_loops.py" in str(caught.value)


def test_gradients_of_what_a_block_keeps_to_itself_are_refused(names: Names) -> None:
    inside: list[Any] = []

    def on_true() -> Any:
        inside.append(paddle.mean(names.x * 2.0))
        return inside[0]

    def body(i: Any) -> Any:
        with pytest.raises(UnsupportedError, match="inside the body of a loop"):
            static.append_backward(paddle.mean(names.x * 2.0))
        return [i + 1]

    nn.cond(names.b, on_true, lambda: paddle.mean(names.x))
    with pytest.raises(LossError, match="belongs to block 1"):
        static.append_backward(inside[0])
    nn.while_loop(lambda i: i < names.n, body, [names.i])
    assert isinstance(names.main.global_block().ops[-1].attr("sub_block"), type(names.main.global_block()))


def test_the_loop_gives_back_new_variables_under_the_old_names(names: Names) -> None:
    h = names.x * 2.0
    _, after = nn.while_loop(lambda i, h: i < names.n, lambda i, h: [i + 1, h + 1.0], [names.i, h])
    assert (after.name, after is h) == (h.name, False)
    assert names.main.global_block().var(h.name) is after
    both = after * 10.0 + h
    verify(names.main)
    feed = {"x": np.ones((2, 3), "f"), "i": np.array([0]), "n": np.array([3])}
    out = static.Executor().run(names.main, feed=feed, fetch_list=[both, h, after])
    assert [float(o[0, 0]) for o in out] == [52.0, 5.0, 5.0]


def test_wrong_types_say_what_was_expected(names: Names) -> None:
    with pytest.raises(ArgumentTypeError, match=r"The type of 'loop_vars' in .* must be list or tuple"):
        nn.while_loop(lambda i: i < names.n, lambda i: [i + 1], names.i)
    with pytest.raises(UsageError, match="true_fn returns non-None while false_fn returns None"):
        nn.cond(names.b, lambda: names.x, lambda: None)
    with pytest.raises(DtypeError, match="body returns float32") as caught:
        nn.while_loop(lambda i: i < names.n, lambda i: [i.astype("float32")], [names.i])
    assert "paddle.cast" in str(caught.value)
