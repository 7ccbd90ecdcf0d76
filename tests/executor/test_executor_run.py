"""``Executor.run``: feeds, fetches, scopes and errors."""

from __future__ import annotations

import gc
import itertools
import weakref
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import (
    ExecutionError,
    FeedError,
    FetchError,
    KernelError,
    ShapeError,
    UninitializedError,
    VariableNotFound,
)
from gradtool.engine.executor.executor import Executor
from gradtool.engine.executor.inputs import StoredTypeError
from gradtool.engine.executor.values import SkippedValueWarning
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable


class Model:
    """``loss = mean(relu(x·w + b))`` in the default programs, parameters initialised."""

    def __init__(self) -> None:
        self.x = paddle.static.data("x", [None, 4])
        self.hidden = paddle.static.nn.fc(self.x, 3, name="a")
        self.out = paddle.nn.functional.relu(self.hidden)
        self.loss = paddle.mean(self.out)
        self.exe = Executor(paddle.CPUPlace())
        self.rows = np.arange(8, dtype="float32").reshape(2, 4)

    def run(self, fetch: Any, **arguments: Any) -> list[Any]:
        return self.exe.run(feed=arguments.pop("feed", {"x": self.rows}), fetch_list=fetch, **arguments)

    @property
    def weight(self) -> Variable:
        return self.loss.block.var("a.w_0")


@pytest.fixture
def model() -> Model:
    model = Model()
    assert model.exe.run(paddle.static.default_startup_program()) == []
    return model


# -- fetches --------------------------------------------------------------------------------------------------------


def test_fetches_come_in_the_order_asked_for(model: Model) -> None:
    loss, out, again, x = model.run([model.loss, "relu_0.tmp_0", model.loss, "x"])
    assert (loss.shape, out.shape) == ((), (2, 3))
    assert isinstance(loss, np.ndarray)
    np.testing.assert_array_equal(again, loss)
    np.testing.assert_array_equal(x, model.rows)
    np.testing.assert_allclose(loss, out.mean(), rtol=1e-6)


def test_one_name_lists_and_pairs_may_be_fetched(model: Model) -> None:
    pairs = paddle.static.append_backward(model.loss)
    flat = model.run([model.loss, *[v for pair in pairs for v in pair]])
    for fetch in ([model.loss, pairs], (model.loss, [list(p) for p in pairs]), [[[model.loss]], *pairs]):
        for a, b in zip(model.run(fetch), flat, strict=True):
            np.testing.assert_array_equal(a, b)
    assert len(model.run(model.loss)) == len(model.run(model.loss.name)) == 1


def test_nothing_may_be_fetched(model: Model) -> None:
    assert model.run([]) == model.run(None) == []


def test_fetched_arrays_are_the_callers_own(model: Model) -> None:
    pairs = paddle.static.append_backward(model.loss)
    constant = paddle.static.default_main_program().global_block().create_var("one", [2])
    constant.block.append_op("fill_constant", {}, {"Out": constant}, {"shape": [2], "value": 1.0})
    fetch = [model.x, model.weight, constant, model.out, model.out, pairs[0][1], model.loss]
    first = model.run(fetch)
    copies = [a.copy() for a in first]
    for i, array in enumerate(first):
        array[...] = 100 + i
    assert model.rows.max() == 7
    for a, b in zip(model.run(fetch), copies, strict=True):
        np.testing.assert_array_equal(a, b)
    assert len({id(a) for a in first}) == len(first)
    assert not np.shares_memory(first[3], first[4])


def test_a_stored_value_does_not_alias_what_was_fed(model: Model) -> None:
    block = model.loss.block
    total = paddle.static.create_global_var([2, 4], 0.0, "float32", persistable=True, name="total")
    model.exe.run(paddle.static.default_startup_program())
    block.append_op("assign", {"X": model.x}, {"Out": total})
    (fetched,) = model.run([total])
    fed = model.rows.copy()
    fetched[...] = 50
    model.rows[...] = 60
    np.testing.assert_array_equal(np.array(total.get_value()), fed)


@pytest.mark.parametrize("type_", ["assign", "share_data", "reshape2"])
def test_stored_values_alias_neither_what_was_fed_nor_each_other(model: Model, type_: str) -> None:
    """Not even where an operator gives its operand on."""
    block = model.loss.block
    totals = [
        paddle.static.create_global_var([2, 4], 0.0, "float32", persistable=True, name=name) for name in ("one", "two")
    ]
    model.exe.run(paddle.static.default_startup_program())
    views = type_ == "reshape2"
    extra = {"XShape": block.create_var("old_shape", [0, 2, 4])} if views else {}
    attrs = {"shape": [2, 4]} if views else {}
    for source, target in ((model.x, totals[0]), (totals[0], totals[1])):
        block.append_op(type_, {"X": source}, {"Out": target} | extra, attrs)
    fetched = model.run([model.x, *totals])
    fed = model.rows.copy()
    stored = [np.asarray(t.get_value()) for t in totals]
    for left, right in itertools.combinations([model.rows, *fetched, *stored], 2):
        assert not np.shares_memory(left, right)
    for value in (*fetched, *stored):
        np.testing.assert_array_equal(value, fed)


def test_tensors_instead_of_arrays(model: Model) -> None:
    (tensor,) = model.run([model.out], return_numpy=False)
    assert not isinstance(tensor, np.ndarray)
    assert tensor.shape() == [2, 3]
    np.testing.assert_array_equal(np.array(tensor), model.run([model.out])[0])


def test_arrays_of_a_handle_are_copies_in_the_type_asked_for(model: Model) -> None:
    (tensor,) = model.run([model.out], return_numpy=False)
    first, second = np.array(tensor), np.asarray(tensor)
    assert not np.shares_memory(first, second)
    first[...] = 100
    np.testing.assert_array_equal(np.asarray(tensor), second)
    assert np.asarray(tensor, dtype="float64").dtype == np.float64


def test_an_unknown_name_cannot_be_fetched(model: Model) -> None:
    with pytest.raises(RuntimeError, match=r"cannot fetch 'relu_0\.tmp_1'") as caught:
        model.run(["relu_0.tmp_1"])
    assert isinstance(caught.value, FetchError)
    assert "did you mean 'relu_0.tmp_0'" in str(caught.value)
    with pytest.raises(FetchError):
        model.run(["@EMPTY@"])


@pytest.mark.parametrize("wrong", [3, {"x"}, np.zeros(2)])
def test_only_variables_and_names_are_fetched(model: Model, wrong: object) -> None:
    with pytest.raises(TypeError, match="fetch_list holds Variables and names"):
        model.run([wrong])


# -- feeds ----------------------------------------------------------------------------------------------------------


def test_lists_are_fed_in_the_declared_dtype(model: Model) -> None:
    (out,) = model.run([model.x], feed={"x": [[1, 2, 3, 4]]})
    assert out.dtype == np.float32


def test_a_list_of_one_dict_is_a_feed(model: Model) -> None:
    np.testing.assert_array_equal(model.run([model.loss], feed=[{"x": model.rows}])[0], model.run([model.loss])[0])


def test_a_tensor_may_be_fed(model: Model) -> None:
    (tensor,) = model.run([model.x], return_numpy=False)
    np.testing.assert_array_equal(model.run([model.loss], feed={"x": tensor})[0], model.run([model.loss])[0])


def test_unknown_names_in_a_feed_are_ignored(model: Model) -> None:
    model.run([model.loss], feed={"x": model.rows, "nobody": np.ones(1)})


@pytest.mark.parametrize(
    ("value", "about"),
    [
        (np.ones((2, 5), "float32"), r"dimensions = 2, shape = \(-1, 4\), but received fed shape \[2, 5\]"),
        (np.ones((2, 4, 1), "float32"), r"received fed shape \[2, 4, 1\]"),
        (np.float32(1), r"received fed shape \[\]"),
        (np.ones((2, 4)), "must be 'float32', but received 'float64'"),
        (np.ones((2, 4), "int64"), "must be 'float32', but received 'int64'"),
        ([[1, 2, 3, 4], [5]], "no float32"),
        ("hello", "no float32"),
    ],
)
def test_a_fed_value_must_fit_the_declaration(model: Model, value: object, about: str) -> None:
    with pytest.raises(ValueError, match=about) as caught:
        model.run([model.loss], feed={"x": value})
    assert isinstance(caught.value, FeedError)
    assert caught.value.variable == "x"


@pytest.mark.parametrize(
    ("declared", "fed", "taken"),
    [
        ([2, 3, 4], (2, 3), True),
        ([2, 3, 4], (2,), True),
        ([2, 3, 4], (2, 4), False),
        ([-1, 3], (5,), True),
        ([-1, 3], (0,), True),
        ([-1, -1], (5,), True),
        ([2, 3], (3,), False),
        ([2, 3], (), False),
        ([-1], (), False),
        ([1], (), False),
        ([1], (1, 1), False),
        ([-1], (2, 3), False),
        ([], (), True),
        ([], (1,), False),
    ],
)
def test_the_last_dimensions_of_what_is_fed_may_be_missing(
    declared: list[int], fed: tuple[int, ...], taken: bool
) -> None:
    """As recorded from Paddle 3.1.1, which crashes where the declaration has no dimension and the value has."""
    x = paddle.static.data("x", declared)
    out, value = paddle.tanh(x), np.linspace(0, 1, int(np.prod(fed)), dtype="float32").reshape(fed)
    if not taken:
        with pytest.raises(FeedError, match="received fed shape"):
            Executor().run(feed={"x": value}, fetch_list=[out])
        return
    (result,) = Executor().run(feed={"x": value}, fetch_list=[out])
    np.testing.assert_allclose(result, np.tanh(value), rtol=1e-6)


def test_operators_go_by_the_shape_that_is_fed() -> None:
    x = paddle.static.data("x", [-1, 3], "float64")
    x.stop_gradient = False
    block = x.block
    row, rows = paddle.static.data("row", [3], "float64"), block.create_var(name="rows", dtype="float64")
    block.append_op("elementwise_add", {"X": x, "Y": row}, {"Out": rows}, {"axis": 1})
    product = x @ paddle.full([3, 2], 2.0, "float64")
    (g,) = paddle.static.gradients(paddle.sum(product * product), x)
    value = np.array([1.0, 2.0, 4.0])
    product_, g_ = Executor().run(feed={"x": value}, fetch_list=[product, g])
    np.testing.assert_array_equal(product_, [14.0, 14.0])
    np.testing.assert_array_equal(g_, np.full(3, 2 * 2 * 2 * 14.0))
    column = np.array([5.0, 6.0])
    with pytest.raises(KernelError, match="elementwise_add"):  # its second axis is the first one that x has not
        Executor().run(feed={"x": column, "row": value}, fetch_list=[rows])


def test_a_missing_feed_is_named(model: Model) -> None:
    with pytest.raises(ValueError, match="not fed: 'x'") as caught:
        model.run([model.loss], feed=None)
    assert caught.value.op is not None  # type: ignore[attr-defined]
    assert caught.value.op.startswith("mul(X=x")  # type: ignore[attr-defined]
    assert "test_executor_run.py" in caught.value.made  # type: ignore[attr-defined]


def test_a_feed_that_nothing_needs_may_be_missing(model: Model) -> None:
    label = paddle.static.data("label", [None, 1])
    unused = paddle.scale(label, 2.0)
    assert model.run([model.loss])[0].shape == ()
    with pytest.raises(FeedError, match="not fed: 'label'"):
        model.run([unused])


@pytest.mark.parametrize("feed", ["x", 3, [{"x": 1}, {"x": 2}]])
def test_a_feed_is_a_dict(model: Model, feed: object) -> None:
    with pytest.raises(TypeError, match="feed"):
        model.run([model.loss], feed=feed)


def test_the_program_must_be_one(model: Model) -> None:
    with pytest.raises(TypeError, match="program"):
        model.exe.run("main")  # type: ignore[arg-type]


def test_no_rows(model: Model) -> None:
    out, hidden = model.run([model.out, model.hidden], feed={"x": np.zeros((0, 4), "float32")})
    assert out.shape == hidden.shape == (0, 3)


def test_an_intermediate_may_be_fed(model: Model) -> None:
    fed = np.array([[1.0, -2.0, 3.0]], "float32")
    hidden, out = model.run([model.hidden, model.out], feed={"a.tmp_1": fed})
    np.testing.assert_array_equal(hidden, fed)
    np.testing.assert_array_equal(out, [[1.0, 0.0, 3.0]])
    hidden, out = model.run([model.hidden, model.out], feed={"x": model.rows, "a.tmp_1": fed}, use_prune=True)
    np.testing.assert_array_equal(out, [[1.0, 0.0, 3.0]])


def test_a_parameter_may_be_fed_for_one_run(model: Model) -> None:
    before = np.array(model.weight.get_value())
    (out,) = model.run([model.hidden], feed={"x": model.rows, "a.w_0": np.zeros((4, 3), "float32")})
    np.testing.assert_array_equal(out, np.zeros((2, 3)))
    np.testing.assert_array_equal(np.array(model.weight.get_value()), before)


def test_a_fed_parameter_is_updated_from_what_was_fed() -> None:
    w = paddle.static.create_parameter([2], "float32", name="w")
    paddle.optimizer.SGD(0.5).minimize(paddle.sum(w * w * 0.25))
    exe = Executor()
    exe.run(paddle.static.default_startup_program())
    (updated,) = exe.run(feed={"w": np.array([4.0, 8.0], "float32")}, fetch_list=[w])
    np.testing.assert_array_equal(updated, [3.0, 6.0])
    np.testing.assert_array_equal(np.array(w.get_value()), [3.0, 6.0])


def test_a_value_of_another_type_in_the_scope_is_refused(model: Model) -> None:
    paddle.static.global_scope().find_var("a.w_0").get_tensor().set(np.ones((4, 3)), paddle.CPUPlace())
    with pytest.raises(StoredTypeError, match=r"'a.w_0' must be 'float32', but its value in the scope is 'float64'"):
        model.run([model.loss])


# -- running --------------------------------------------------------------------------------------------------------


def test_the_startup_program_must_run_first() -> None:
    model = Model()
    with pytest.raises(RuntimeError, match="has not been initialized") as caught:
        model.run([model.loss])
    assert isinstance(caught.value, UninitializedError)
    assert "run the startup program" in str(caught.value)


def test_a_closed_executor_runs_nothing(model: Model) -> None:
    model.exe.close()
    with pytest.raises(RuntimeError, match="closed Executor"):
        model.run([model.loss])


def test_a_failing_operator_is_named_with_its_line(model: Model) -> None:
    other = paddle.static.data("other", [None, None])
    broken = paddle.add(model.hidden, other)
    with pytest.raises(KernelError) as caught:
        model.run([broken], feed={"x": model.rows, "other": np.ones((7, 3), "float32")})
    assert isinstance(caught.value, ValueError)
    assert caught.value.op is not None
    assert caught.value.op.startswith("elementwise_add(X=a.tmp_1, Y=other)")
    assert "broken = paddle.add(model.hidden, other)" in str(caught.value)


def test_a_failed_run_changes_no_persistable(model: Model) -> None:
    block = model.loss.block
    count = paddle.static.create_global_var([1], 1.0, "float32", persistable=True, name="count")
    model.exe.run(paddle.static.default_startup_program())
    block.append_op("scale", {"X": count}, {"Out": count}, {"scale": 2.0})
    other = paddle.static.data("other", [None, None])
    bad = paddle.add(model.hidden, other)
    with pytest.raises(ExecutionError):
        model.run([bad], feed={"x": model.rows, "other": np.ones((7, 3), "float32")})
    np.testing.assert_array_equal(np.array(count.get_value()), [1.0])
    model.run([])
    np.testing.assert_array_equal(np.array(count.get_value()), [2.0])


def test_persistable_variables_are_updated_without_being_fetched() -> None:
    count = paddle.static.create_global_var([1], 0.0, "float32", persistable=True, name="count")
    count.block.append_op("scale", {"X": count}, {"Out": count}, {"bias": 1.0})
    exe = Executor()
    exe.run(paddle.static.default_startup_program())
    assert [exe.run(fetch_list=[count])[0].tolist() for _ in range(3)] == [[1.0], [2.0], [3.0]]


def test_a_program_run_with_a_seed_repeats(model: Model) -> None:
    block = model.loss.block
    noise = block.create_var("noise", [4])
    block.append_op("uniform_random", {}, {"Out": noise}, {"shape": [4], "min": 0.0})
    drawn = [model.run([noise])[0] for _ in range(2)]
    assert not np.array_equal(*drawn)
    block.program.random_seed = 9
    drawn = [model.run([noise])[0] for _ in range(2)]
    np.testing.assert_array_equal(*drawn)


def test_scopes_keep_parameters_apart(model: Model) -> None:
    other = paddle.static.Scope()
    with pytest.raises(UninitializedError):
        model.run([model.loss], scope=other)
    model.exe.run(paddle.static.default_startup_program(), scope=other)
    model.weight.set_value(np.zeros((4, 3), "float32"), other)
    assert model.run([model.loss], scope=other)[0] == 0
    with paddle.static.scope_guard(other):
        assert paddle.static.global_scope() is other
        assert model.run([model.loss])[0] == 0
    assert model.run([model.loss])[0] != 0
    with pytest.raises(TypeError), paddle.static.scope_guard("a"):  # type: ignore[arg-type]
        pass


# -- plans ----------------------------------------------------------------------------------------------------------


def test_a_plan_is_made_once_for_each_set_of_feeds_and_fetches(model: Model) -> None:
    plans = model.loss.block.program.plans
    model.run([model.loss])
    (first,) = plans.values()
    model.run([model.loss])
    assert list(plans.values()) == [first]
    model.run([model.out])
    model.run([model.loss], feed={"x": model.rows, "a.tmp_1": np.ones((2, 3), "float32")})
    assert len(plans) == 3


def test_an_edit_is_seen_by_the_next_run(model: Model) -> None:
    block = model.loss.block
    (before,) = model.run([model.loss])
    scaled = next(o for o in block.ops if o.type == "reduce_mean")
    doubled = block._insert_op(
        scaled.idx,
        type="scale",
        inputs={"X": model.out},
        outputs={"Out": block.create_var("twice")},
        attrs={"scale": 2.0},
    )
    scaled._rename_input(model.out.name, "twice")
    np.testing.assert_allclose(model.run([model.loss])[0], 2 * before, rtol=1e-6)
    doubled._set_attr("scale", 3.0)
    np.testing.assert_allclose(model.run([model.loss])[0], 3 * before, rtol=1e-6)
    assert len(block.program.plans) == 1


def test_a_variable_is_stored_once_it_is_persistable(model: Model) -> None:
    (before,) = model.run([model.loss])
    model.out.persistable = True
    (out, after) = model.run([model.out, model.loss])
    np.testing.assert_array_equal(np.array(model.out.get_value()), out)
    model.out.persistable = False
    model.run([model.loss], feed={"x": model.rows + 1})
    np.testing.assert_array_equal(np.array(paddle.static.global_scope().find_var(model.out.name).get_tensor()), out)
    np.testing.assert_array_equal(before, after)


def test_plans_do_not_pile_up(model: Model) -> None:
    names = [v.name for v in model.loss.block.program.list_vars()]
    for n in range(40):
        model.run([names[n % len(names)]] * (n // len(names) + 1))
    assert len(model.loss.block.program.plans) <= 16


def test_registers_are_freed_at_their_last_use(model: Model) -> None:
    alive: list[int] = []
    tracked: list[weakref.ref[np.ndarray]] = []
    h = model.hidden
    for _ in range(10):
        h = paddle.scale(h, 2.0)
    for step in model.exe.steps(feed={"x": model.rows}, fetch_list=[h]):
        tracked.append(weakref.ref(step.outputs[0]))
        del step
        gc.collect()
        alive.append(sum(r() is not None for r in tracked))
    assert max(alive) <= 3


def test_only_what_is_asked_for_survives_a_run(model: Model) -> None:
    plan, regs, _ = model.exe._prepare(None, {"x": model.rows}, [model.loss], None)
    plan.run(regs)
    stays = {*plan.feeds.values(), *plan.loads.values(), *plan.constants, *plan.fetches}
    assert {i for i, r in enumerate(regs) if r is not None} == stays


def test_operators_that_nobody_needs_do_not_run(model: Model) -> None:
    paddle.static.append_backward(model.loss)
    types = [s.op.type for s in model.exe.steps(feed={"x": model.rows}, fetch_list=[model.hidden])]
    assert types == ["mul", "elementwise_add"]


def test_steps_are_what_run_does(model: Model) -> None:
    pairs = paddle.static.append_backward(model.loss)
    fetch = [model.loss, [g for _, g in pairs]]
    steps = model.exe.steps(feed={"x": model.rows}, fetch_list=fetch)
    events = []
    while True:
        try:
            events.append(next(steps))
        except StopIteration as stop:
            fetched = stop.value
            break
    for a, b in zip(fetched, model.run(fetch), strict=True):
        np.testing.assert_array_equal(a, b)
    by_name = {v.name: value for e in events for v, value in zip(e.op.output_variables(), e.outputs, strict=False)}
    np.testing.assert_array_equal(by_name[model.loss.name], fetched[0])
    assert [e.index for e in events] == sorted(e.index for e in events)


def test_steps_fail_as_run_does(model: Model) -> None:
    other = paddle.static.data("other", [None, None])
    broken = paddle.add(model.hidden, other)
    feed = {"x": model.rows, "other": np.ones((7, 3), "float32")}
    with pytest.raises(KernelError) as by_run:
        model.run([broken], feed=feed)
    with pytest.raises(KernelError) as by_steps:
        list(model.exe.steps(feed=feed, fetch_list=[broken]))
    assert str(by_steps.value) == str(by_run.value)


# -- values in scopes -----------------------------------------------------------------------------------------------


def test_scope_handles(model: Model) -> None:
    scope = paddle.static.global_scope()
    assert scope.find_var("nobody") is None
    tensor = scope.find_var("a.w_0").get_tensor()
    assert tensor.shape() == [4, 3]
    assert tensor._is_initialized()
    new = np.full((4, 3), 2, "float32")
    tensor.set(new, paddle.CPUPlace())
    new[...] = 9
    np.testing.assert_array_equal(np.array(tensor), np.full((4, 3), 2))
    model.run([model.loss])
    assert scope.local_var_names() == ["a.b_0", "a.w_0"]
    assert not scope.var("later").get_tensor()._is_initialized()


def test_get_and_set_value(model: Model) -> None:
    weight = model.weight
    weight.set_value(np.ones((4, 3)))
    value = np.array(weight.get_value())
    assert value.dtype == np.float32
    assert value.sum() == 12
    weight.set_value(weight.get_value())
    with pytest.raises(
        ValueError, match=r"a\.w_0 expected a shape \[4, 3\], but the received shape is \[2, 2\]"
    ) as caught:
        weight.set_value(np.zeros((2, 2), "float32"))
    assert isinstance(caught.value, ShapeError)
    for wrong in ([[1.0] * 3] * 4, "a", None):
        with pytest.raises(TypeError, match=r"`value` should be `numpy\.ndarray`"):
            weight.set_value(wrong)
    with pytest.raises(TypeError, match="complex"):
        weight.set_value(np.ones((4, 3), "complex64"))
    np.testing.assert_array_equal(np.array(weight.get_value()), value)


def test_values_that_are_not_there(model: Model) -> None:
    for ask in (model.x.get_value, model.hidden.get_value, lambda: model.weight.get_value(paddle.static.Scope())):
        with pytest.raises(ValueError, match="Can not find Variable") as caught:
            ask()
        assert isinstance(caught.value, VariableNotFound)
    with pytest.raises(TypeError, match="scope"):
        model.weight.get_value(3)
    with pytest.raises(ValueError, match="Can not find Variable"):
        model.weight.set_value(np.zeros((4, 3), "float32"), paddle.static.Scope())


def test_state_dict(model: Model) -> None:
    paddle.static.create_global_var([1], 0.5, "float32", persistable=True, name="rate")
    model.exe.run(paddle.static.default_startup_program())
    program = paddle.static.default_main_program()
    assert list(program.state_dict()) == ["a.w_0", "a.b_0", "rate"]
    assert list(program.state_dict("param")) == ["a.w_0", "a.b_0"]
    assert list(program.state_dict("opt")) == ["rate"]
    with pytest.raises(ValueError, match="'param', 'opt' or 'all'"):
        program.state_dict("foo")
    with pytest.raises(ValueError, match="Can not find"):
        program.state_dict(scope=paddle.static.Scope())
    raised = {name: np.array(value) + 1 for name, value in program.state_dict().items()}
    program.set_state_dict(raised)
    for name, value in program.state_dict().items():
        np.testing.assert_array_equal(np.array(value), raised[name])


def test_set_state_dict_skips_what_does_not_fit(model: Model) -> None:
    program = paddle.static.default_main_program()
    before = np.array(model.weight.get_value())
    with pytest.warns(SkippedValueWarning) as caught:
        program.set_state_dict({"nobody": np.ones(1), "a.w_0": np.ones((2, 2)), "a.b_0": np.ones(3)})
    assert [str(w.message) for w in caught] == [
        "Skip loading for 'nobody'. Because 'nobody' not in the program.",
        "Skip loading for 'a.w_0'. a.w_0 expected a shape [4, 3], but the received shape is [2, 2].",
    ]
    assert all(w.filename == __file__ for w in caught)
    np.testing.assert_array_equal(np.array(model.weight.get_value()), before)
    np.testing.assert_array_equal(np.array(program.state_dict()["a.b_0"]), np.ones(3))
    with pytest.raises(TypeError, match="state_dict"):
        program.set_state_dict([1])  # type: ignore[arg-type]


def test_an_empty_program_runs() -> None:
    assert Executor().run(Program(), feed={}, fetch_list=[]) == []
