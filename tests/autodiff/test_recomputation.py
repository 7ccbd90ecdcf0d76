"""``append_backward(checkpoints=...)``: what is computed again, under which names, and that nothing else changes."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradtool.paddle.nn.functional as F
from gradtool import paddle
from gradtool.engine.core.errors import (
    ArgumentTypeError,
    NoGradientRule,
    UnusedCheckpointWarning,
    UsageError,
    VariableNotFound,
)
from gradtool.engine.executor.scope import Scope, global_scope, scope_guard
from gradtool.engine.ir.default import fresh_programs
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.verify import verify
from tests.autodiff.nets import backward_ops, check_by_differences, data, lines, main, mean, numbers, op, pairs, run
from tests.autodiff.random_programs import Net, Step, examples, steps
from tests.autodiff.test_backward_arguments import unchanged

Layers = list[Any]


def layers(count: int = 4, between: Callable[[Any], Any] | None = None) -> tuple[Any, Layers]:
    """A loss over relu layers ``l0``, ``l1``, …, and what each makes."""
    h = paddle.static.data("x", [4, 3])
    outs = []
    for i in range(count):
        h = paddle.static.nn.fc(h, 3, name=f"l{i}", activation="relu")
        if between is not None:
            h = between(h)
        outs.append(h)
    return mean(h), outs


def repeated() -> list[str]:
    """The operators that run again, as text."""
    return lines([o for o in backward_ops() if o.repeats is not None])


def values(
    build: Callable[[], tuple[Any, Layers]], choose: Callable[[Layers], Any], steps_: int = 1, seed: int = 0
) -> dict[str, np.ndarray]:
    """Loss, gradients, and persistable variables after *steps_* runs, with checkpoints from *choose*."""
    with fresh_programs(), scope_guard(Scope()):
        main().random_seed = seed
        loss, outs = build()
        checkpoints = choose(outs)
        result = paddle.static.append_backward(loss, checkpoints=checkpoints)
        gradients = result[0] if checkpoints else result
        verify(main())
        paddle.seed(3)
        feed = {"x": np.random.default_rng(0).normal(size=(4, 3)).astype("float32")}
        for _ in range(steps_):
            fetched = run([loss, *(g for _, g in gradients)], feed)
        names = ["loss", *(p.name for p, _ in gradients)]
        persistable = {v.name: np.array(global_scope().values[v.name]) for v in main().list_vars() if v.persistable}
        return dict(zip(names, fetched, strict=True)) | {f"{n} after": v for n, v in persistable.items()}


def assert_same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> None:
    """Equal to the bit."""
    assert a.keys() == b.keys()
    assert [n for n in a if not np.array_equal(a[n], b[n])] == []


# -- form -------------------------------------------------------------------------------------------------------------


def test_names_order_and_result() -> None:
    loss, outs = layers()
    result = paddle.static.append_backward(loss, checkpoints=[outs[0], outs[2]])
    assert result[1] == ["l0.tmp_2", "l2.tmp_2"]
    assert [p for p, _ in pairs(result[0])] == [f"l{i}.{p}_0" for i in range(4) for p in "wb"]
    new = backward_ops()
    assert [o.type for o in new[:5]] == [
        "fill_constant",
        "reduce_mean_grad",
        "relu_grad",
        "elementwise_add_grad",
        "mul_grad",
    ]
    assert lines(new[5:12]) == [
        "mul(l0.tmp_2 l1.w_0) -> l1.tmp_0.subprog_0",
        "elementwise_add(l1.tmp_0.subprog_0 l1.b_0) -> l1.tmp_1.subprog_0",
        "relu(l1.tmp_1.subprog_0) -> l1.tmp_2.subprog_0",
        "mul(l1.tmp_2.subprog_0 l2.w_0) -> l2.tmp_0.subprog_0",
        "elementwise_add(l2.tmp_0.subprog_0 l2.b_0) -> l2.tmp_1.subprog_0",
        "relu_grad(l2.tmp_2 l2.tmp_2@GRAD) -> l2.tmp_1@GRAD",
        "elementwise_add_grad(l2.tmp_1@GRAD l2.tmp_0.subprog_0 l2.b_0) -> l2.tmp_0@GRAD l2.b_0@GRAD",
    ]
    assert all(o.attr("op_role") == 1 for o in new[1:])
    assert lines(new[16:18]) == [
        "mul(x l0.w_0) -> l0.tmp_0.subprog_1",
        "elementwise_add(l0.tmp_0.subprog_1 l0.b_0) -> l0.tmp_1.subprog_1",
    ]
    assert main().num_blocks == 1
    verify(main())


@pytest.mark.parametrize("form", ["variables", "names", "tuple", "mixed and twice", "any order"])
def test_forms_of_the_argument(form: str) -> None:
    loss, outs = layers()
    cases: dict[str, Any] = {
        "variables": [outs[0], outs[2]],
        "names": ["l0.tmp_2", "l2.tmp_2"],
        "tuple": (outs[0], outs[2]),
        "mixed and twice": [outs[0], "l2.tmp_2", outs[2], "l0.tmp_2"],
        "any order": [outs[2], outs[0]],
    }
    result = paddle.static.append_backward(loss, checkpoints=cases[form])
    assert result[1] == ["l0.tmp_2", "l2.tmp_2"]
    assert len(repeated()) == 7


@pytest.mark.parametrize("nothing", [None, [], ()], ids=repr)
def test_no_checkpoints_give_the_plain_list(nothing: Any) -> None:
    loss, _ = layers()
    result = paddle.static.append_backward(loss, checkpoints=nothing)
    assert isinstance(result, list)
    assert repeated() == []


def test_data_may_be_a_checkpoint_and_saves_nothing() -> None:
    loss, outs = layers(2)
    assert paddle.static.append_backward(loss, checkpoints=["x"])[1] == ["x"]
    assert repeated() == []
    with fresh_programs():
        loss, outs = layers(2)
        assert paddle.static.append_backward(loss, checkpoints=[outs[0], "x"])[1] == ["x", "l0.tmp_2"]
        assert len(repeated()) == 2


def test_a_checkpoint_that_the_loss_does_not_depend_on_is_left_out_with_a_warning() -> None:
    loss, outs = layers(3)
    aside = paddle.static.nn.fc(outs[0], 3, name="aside")
    with pytest.warns(UnusedCheckpointWarning, match="aside"):
        result = paddle.static.append_backward(loss, checkpoints=[aside, outs[1]])
    assert result[1] == ["l1.tmp_2"]
    assert not any("aside" in line for line in repeated())


def test_the_loss_as_checkpoint_lets_everything_run_again() -> None:
    loss, _ = layers(2)
    paddle.static.append_backward(loss, checkpoints=[loss])
    assert [line.split("(")[0] for line in repeated()] == ["mul", "elementwise_add", "relu"] * 2


def test_a_branch_between_two_checkpoints_runs_again_with_the_segment_before() -> None:
    x, y = paddle.static.data("x", [4, 3]), paddle.static.data("y", [4, 3])
    first = paddle.static.nn.fc(x, 3, name="a", activation="relu")
    side = paddle.static.nn.fc(y, 3, name="k", activation="relu")
    second = paddle.static.nn.fc(first, 3, name="z", activation="relu") + side
    loss = mean(paddle.static.nn.fc(second, 3, name="w"))
    paddle.static.append_backward(loss, checkpoints=[first, second])
    assert repeated() == [
        "mul(a.tmp_2 z.w_0) -> z.tmp_0.subprog_0",
        "elementwise_add(z.tmp_0.subprog_0 z.b_0) -> z.tmp_1.subprog_0",
        "relu(z.tmp_1.subprog_0) -> z.tmp_2.subprog_0",
        "mul(x a.w_0) -> a.tmp_0.subprog_1",
        "elementwise_add(a.tmp_0.subprog_1 a.b_0) -> a.tmp_1.subprog_1",
        "mul(y k.w_0) -> k.tmp_0.subprog_1",
        "elementwise_add(k.tmp_0.subprog_1 k.b_0) -> k.tmp_1.subprog_1",
    ]


# -- arguments --------------------------------------------------------------------------------------------------------

BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "a name": ("l0.tmp_2", ArgumentTypeError, "list of Variables or names"),
    "a set": ({"l0.tmp_2"}, ArgumentTypeError, "received set"),
    "a number": (3, TypeError, "received int"),
    "an element": ([3], TypeError, r"checkpoints\[0\]"),
    "an unknown name": (["l0.tmp_9"], VariableNotFound, r"checkpoints\[0\] is 'l0.tmp_9'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments(case: str) -> None:
    argument, error, message = BAD[case]
    loss, _ = layers(2)
    with unchanged(), pytest.raises(error, match=message):
        paddle.static.append_backward(loss, checkpoints=argument)


def test_a_variable_and_one_of_another_program() -> None:
    loss, outs = layers(2)
    with unchanged(), pytest.raises(ArgumentTypeError, match="Variable"):
        paddle.static.append_backward(loss, checkpoints=outs[0])
    with fresh_programs():
        _, others = layers(2)
    with unchanged(), pytest.raises(UsageError, match="another program"):
        paddle.static.append_backward(loss, checkpoints=others[:1])


# -- values -----------------------------------------------------------------------------------------------------------

CHOICES: dict[str, Callable[[Layers], Any]] = {
    "one": lambda outs: [outs[2]],
    "two": lambda outs: [outs[0], outs[2]],
    "each": list,
    "auto": lambda outs: "auto",
}


@pytest.mark.parametrize("choice", CHOICES)
def test_gradients_are_the_same_to_the_bit(choice: str) -> None:
    assert_same(values(layers, lambda outs: None), values(layers, CHOICES[choice]))


@pytest.mark.parametrize("choice", CHOICES)
def test_running_statistics_move_once_a_step(choice: str) -> None:
    def build() -> tuple[Any, Layers]:
        return layers(4, paddle.static.nn.batch_norm)

    plain, again = values(build, lambda outs: None, steps_=3), values(build, CHOICES[choice], steps_=3)
    assert any("w_1 after" in n for n in plain)
    assert_same(plain, again)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("mode", ["upscale_in_train", "downscale_in_infer"])
def test_dropout_with_the_programs_seed_is_the_same_to_the_bit(choice: str, mode: str) -> None:
    def build() -> tuple[Any, Layers]:
        return layers(4, lambda h: F.dropout(h, 0.4, mode=mode))

    assert_same(values(build, lambda outs: None, seed=11), values(build, CHOICES[choice], seed=11))


def test_dropout_without_a_seed_drops_the_same_elements_again() -> None:
    x = data("x", 40, 5)
    h = F.dropout(op("tanh", x), 0.5)
    k = F.dropout(op("tanh", h), 0.5)
    loss = paddle.sum(op("tanh", k))
    (gradients,), names = paddle.static.append_backward(loss, [x], checkpoints=[k])
    feed = {"x": numbers(40, 5)}
    a, b, g = run([h, k, gradients[1]], feed)
    kept_a, kept_b = np.where(a == 0, 0.0, 2.0), np.where(b == 0, 0.0, 2.0)
    t = np.tanh(feed["x"])
    expected = (1 - np.tanh(b) ** 2) * kept_b * (1 - np.tanh(a) ** 2) * kept_a * (1 - t * t)
    np.testing.assert_allclose(g, expected, rtol=1e-12)
    assert 0.2 < (a == 0).mean() < 0.8
    assert not np.array_equal(run([h], feed)[0], a)  # a seed of its own in every run
    assert names == [k.name]


def test_the_seeds_form() -> None:
    main().random_seed = 7
    loss, outs = layers(3, lambda h: F.dropout(h, 0.5))
    paddle.static.append_backward(loss, checkpoints=outs[:2])
    ops = main().global_block().ops
    seeds = [i for i, o in enumerate(ops) if o.type == "seed"]
    assert [ops[i].output("Out") for i in seeds] == [["seed_0.tmp_0"], ["seed_1.tmp_0"], ["seed_2.tmp_0"]]
    for i in seeds:
        assert (ops[i].attr("seed"), ops[i].attr("force_cpu"), ops[i].attr("op_role")) == (7, True, 0)
        assert ops[i + 1].type == "dropout"
        assert ops[i + 1].input("Seed") == ops[i].output("Out")
        assert (ops[i + 1].attr("seed"), ops[i + 1].attr("fix_seed")) == (0, False)
    verify(main())


def test_other_random_values_are_kept() -> None:
    x = data("x", 3, 4)
    noise = paddle.bernoulli(paddle.full([3, 4], 0.5, "float64"))
    h = op("tanh", op("elementwise_mul", op("tanh", x), noise))
    loss = paddle.sum(op("exp", h))
    ((_, g),), _ = paddle.static.append_backward(loss, [x], checkpoints=[h])
    assert not any("bernoulli" in line for line in repeated())
    feed = {"x": numbers(3, 4)}
    drawn, gradient = run([noise, g], feed)
    t = np.tanh(feed["x"])
    u = np.tanh(t * drawn)
    np.testing.assert_allclose(gradient, np.exp(u) * (1 - u * u) * drawn * (1 - t * t), rtol=1e-12)


def test_overwritten_variables() -> None:
    x = data("x", 3)
    h = op("tanh", x)
    first = op("exp", h)
    paddle.assign(op("scale", op("square", h), scale=0.5), output=h)
    second = op("exp", h)
    loss = paddle.sum(op("elementwise_mul", op("tanh", op("elementwise_add", first, second)), h))
    ((_, g),), _ = paddle.static.append_backward(loss, [x], checkpoints=[loss])
    verify(main())
    feed = {"x": numbers(3)}
    check_by_differences(loss, feed, {"x": run([g], feed)[0]})


def test_outputs_that_no_gradient_reaches() -> None:
    x = data("x", 4, 6)
    parts = paddle.split(op("tanh", x), 3, axis=1)
    loss = paddle.sum(op("exp", op("tanh", parts[0])))
    ((_, g),), _ = paddle.static.append_backward(loss, [x], checkpoints=[loss])
    feed = {"x": numbers(4, 6)}
    check_by_differences(loss, feed, {"x": run([g], feed)[0]})


# -- callbacks and failures -------------------------------------------------------------------------------------------


def test_callbacks_are_called_for_gradient_operators() -> None:
    loss, outs = layers()
    seen: list[str] = []

    def note(block: Any, context: dict[str, Any]) -> None:
        desc = context["__current_op_desc__"]
        seen.append(desc.type())
        assert all(n.endswith("@GRAD") and n in context for n in desc.output_arg_names())

    paddle.static.append_backward(loss, checkpoints=outs[:3], callbacks=[note])
    assert seen == [o.type for o in backward_ops()[1:] if o.repeats is None]


def test_a_call_that_fails_leaves_the_program_as_it_was() -> None:
    def fail(block: Any, context: dict[str, Any]) -> None:
        raise RuntimeError("no")

    loss, outs = layers(4, lambda h: F.dropout(h, 0.5))
    before = [(o.inputs, o.attrs) for o in main().global_block().ops]
    with unchanged(), pytest.raises(RuntimeError, match="no"):
        paddle.static.append_backward(loss, checkpoints=outs[:3], callbacks=[fail])
    assert [(o.inputs, o.attrs) for o in main().global_block().ops] == before


def test_an_operator_without_a_gradient_behind_a_segment(monkeypatch: pytest.MonkeyPatch) -> None:
    loss, outs = layers(4)
    monkeypatch.setattr(outs[0].op.op, "rule", None)
    with unchanged(), pytest.raises(NoGradientRule, match="relu"):
        paddle.static.append_backward(loss, checkpoints=outs[1:3])


# -- calling again ----------------------------------------------------------------------------------------------------


def test_the_same_call_again_adds_nothing() -> None:
    loss, outs = layers(4, lambda h: paddle.static.nn.batch_norm(F.dropout(h, 0.5)))
    first = paddle.static.append_backward(loss, checkpoints=outs[:3])
    before = str(main())
    second = paddle.static.append_backward(loss, checkpoints=outs[:3])
    assert pairs(first[0]) == pairs(second[0])
    assert str(main()) == before


def test_other_checkpoints_and_none_give_the_same_values() -> None:
    loss, outs = layers(5)
    calls = [paddle.static.append_backward(loss, checkpoints=c)[0] for c in (outs[:2], outs[1:4], "auto")]
    calls.append(paddle.static.append_backward(loss))
    verify(main())
    feed = {"x": numbers(4, 3).astype("float32")}
    values = run([[g for _, g in call] for call in calls], feed)
    count = len(calls[0])
    for i in range(1, len(calls)):
        for a, b in zip(values[:count], values[i * count :], strict=False):
            np.testing.assert_array_equal(a, b)


def test_gradients_of_gradients_after_it() -> None:
    x = data("x", 3, 4)
    pool = [x]
    for _ in range(4):
        pool.append(op("tanh", op("scale", pool[-1], scale=1.5)))
    loss = paddle.sum(op("exp", pool[-1]))
    ((_, g),), _ = paddle.static.append_backward(loss, [x], checkpoints=pool[1:4])
    penalty = paddle.sum(op("square", g))
    (second,) = paddle.static.gradients(penalty, x)
    verify(main())
    feed = {"x": numbers(3, 4)}
    check_by_differences(penalty, feed, {"x": run([second], feed)[0]})


def test_a_penalty_on_gradients_is_itself_recomputed() -> None:
    x = data("x", 3, 4)
    h = op("tanh", op("scale", x, scale=1.5))
    (g,) = paddle.static.gradients(paddle.sum(op("exp", op("tanh", h))), x)
    loss = paddle.sum(op("tanh", op("square", g)))
    ((_, gradient),), _ = paddle.static.append_backward(loss, [x], checkpoints=[h, g, loss])
    verify(main())
    feed = {"x": numbers(3, 4)}
    check_by_differences(loss, feed, {"x": run([gradient], feed)[0]})


@pytest.mark.parametrize("how", ["clone", "json", "bytes"])
def test_a_copy_keeps_what_is_repeated(how: str) -> None:
    loss, outs = layers(4, lambda h: F.dropout(h, 0.5))
    paddle.static.append_backward(loss, checkpoints=outs[:3])
    copies: dict[str, Callable[[], Any]] = {
        "clone": main().clone,
        "json": lambda: Program.from_json(main().to_json()),
        "bytes": lambda: Program.parse_from_string(main().serialize_to_string()),
    }
    copy = copies[how]()
    verify(copy)
    ours, theirs = main().global_block().ops, copy.global_block().ops
    assert [o.repeats and ours.index(o.repeats) for o in ours] == [
        o.repeats and theirs.index(o.repeats) for o in theirs
    ]
    assert any(o.repeats is not None for o in theirs)


def test_training_after_an_update_reads_the_old_parameters() -> None:
    """A second loss after the update of the first: its operators read the parameters as they were before it."""
    loss, outs = layers(3)
    other = paddle.mean(outs[-1] * outs[-1])
    with paddle.utils.unique_name.guard():
        paddle.optimizer.SGD(0.5).minimize(loss)
    result, _ = paddle.static.append_backward(other, checkpoints=outs[:2])
    verify(main())
    feed = {"x": numbers(4, 3, low=0.0).astype("float32")}
    paddle.seed(2)
    arrays = run([g for _, g in result], feed)
    paddle.seed(2)
    with fresh_programs(), scope_guard(Scope()):
        loss, outs = layers(3)
        plain = paddle.static.append_backward(paddle.mean(outs[-1] * outs[-1]))
        expected = run([g for _, g in plain], feed)
    for a, b in zip(arrays, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


# -- random programs --------------------------------------------------------------------------------------------------


def differentiated(recipe: Sequence[Step], chooser: random.Random | None) -> tuple[list[np.ndarray], Net]:
    with fresh_programs(), scope_guard(Scope()), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedCheckpointWarning)
        net = Net(recipe)
        names = [v.name for v in net.temporaries]
        checkpoints: Any = None
        if chooser is not None:
            some = chooser.sample(names, min(len(names), chooser.randint(1, 5)))
            checkpoints = some if chooser.random() < 0.8 else "auto"
        result = paddle.static.append_backward(net.loss, net.sources, checkpoints=checkpoints)
        verify(net.program)
        gradients = result[0] if checkpoints else result
        size = len(net.block.ops)
        paddle.static.append_backward(net.loss, net.sources, checkpoints=checkpoints)
        assert len(net.block.ops) == size
        for name in net.start.keys() - net.feed.keys():
            global_scope().var(name).get_tensor().set(net.start[name])
        fetch = [net.loss, *(g for _, g in gradients)]
        return paddle.static.Executor().run(net.program, feed=net.feed, fetch_list=fetch), net


@examples(60)
@given(steps(60), st.integers(0, 1 << 30))
def test_random_programs(recipe: list[Step], seed: int) -> None:
    plain, _ = differentiated(recipe, None)
    again, _ = differentiated(recipe, random.Random(seed))
    assert len(plain) == len(again)
    for a, b in zip(plain, again, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_sparse_look_up_in_a_segment() -> None:
    def gradient(checkpointed: bool) -> np.ndarray:
        with fresh_programs(), scope_guard(Scope()):
            paddle.seed(1)
            ids = paddle.static.data("ids", [4, 3], "int64")
            table = paddle.create_parameter([20, 8], "float32", name="table")
            h = paddle.tanh(F.embedding(ids, table, sparse=True) * 2.0)
            loss = mean(h * h)
            checkpoints = [h] if checkpointed else None
            result = paddle.static.append_backward(loss, checkpoints=checkpoints)
            ((_, g),) = result[0] if checkpointed else result
            assert checkpointed == any("lookup_table_v2(" in line for line in repeated())
            return np.asarray(run([g], {"ids": np.arange(12).reshape(4, 3) % 5})[0])

    np.testing.assert_array_equal(gradient(True), gradient(False))
