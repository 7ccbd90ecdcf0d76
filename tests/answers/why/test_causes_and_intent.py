"""What a program shows to be meant is no finding, and the cause is named before its victim."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.eager.recorded_calls import nodes_behind
from gradtool.engine.eager.tape import keep_graphs, restore
from gradtool.paddle import nn

pytestmark = pytest.mark.usefixtures("dynamic")


def parameter(*numbers: float) -> paddle.Tensor:
    w = paddle.create_parameter([len(numbers)], "float32")
    w.set_value(np.array(numbers, "float32"))
    return w


def answer(loss: paddle.Tensor, w: paddle.Tensor) -> Answer:
    (told,) = gradtool.why(loss, w)
    return told


# -- intent -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("other_line", [False, True])
def test_what_another_backward_call_covers_is_meant(other_line: bool) -> None:
    with gradtool.watching():
        maker, judge = parameter(1, 2), parameter(3, 4)
        made = maker * 2.0
        if other_line:
            (made * judge).sum().backward(retain_graph=True)
        loss = (made.detach() * judge).sum()
        loss.backward()
        told = answer(loss, maker)
    assert told.verdict is Verdict.DETACHED
    assert told.finding is not other_line
    assert any("another backward call gives it a gradient" in s for s in told.said) is other_line


def test_the_same_backward_line_with_losses_of_two_lines_is_two_calls() -> None:
    def step(loss: paddle.Tensor) -> None:
        loss.backward(retain_graph=True)

    with gradtool.watching():
        maker, judge = parameter(1, 2), parameter(3, 4)
        made = maker * 2.0
        first = (made * judge).sum()
        step(first)
        second = (made.detach() * judge).sum()
        step(second)
        assert not answer(second, maker).finding
        assert answer(first, maker).verdict is Verdict.OK


def test_an_earlier_round_of_the_same_call_covers_nothing() -> None:
    with gradtool.watching():
        w, v = parameter(1, 2), parameter(3, 4)
        for cut in (False, True):
            left = (w * 2.0).detach() if cut else w * 2.0
            loss = (left * v).sum()
            loss.backward()
        told = answer(loss, w)
    assert (told.verdict, told.finding) == (Verdict.DETACHED, True)


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("optimizer", [False, True])
def test_a_target_is_what_no_optimizer_holds_while_there_is_one(held: bool, optimizer: bool) -> None:
    with gradtool.watching():
        online, target = parameter(1, 2), parameter(3, 4)
        if optimizer:
            paddle.optimizer.SGD(0.1, parameters=[online, target] if held else [online])
        with paddle.no_grad():
            goal = target * 2.0
        told = answer((online - goal).square().sum(), target)
    assert told.verdict is Verdict.NO_GRAD
    assert told.finding is (held or not optimizer)
    assert ("no optimizer holds it" in told.said) is not told.finding


def test_a_list_taken_before_a_parameter_existed_says_nothing_about_it() -> None:
    with gradtool.watching():
        online = parameter(1, 2)
        paddle.optimizer.SGD(0.1, parameters=[online])
        late = parameter(3, 4)
        with paddle.no_grad():
            goal = late * 2.0
        told = answer((online - goal).square().sum(), late)
    assert (told.verdict, told.finding) == (Verdict.NO_GRAD, True)


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("held", [False, True])
def test_a_target_of_another_loss_alone_is_meant(used: bool, held: bool) -> None:
    with gradtool.watching():
        online, target, rate = parameter(1, 2), parameter(3, 4), parameter(5, 6)
        paddle.optimizer.SGD(0.1, parameters=[online, rate, *([target] if held else [])])
        with paddle.no_grad():
            goal = target * 2.0
        (online - goal if used else online).square().sum().backward()
        loss = (rate * 2.0).sum()
        loss.backward()
        told = answer(loss, target)
    assert told.verdict is Verdict.NO_PATH
    assert told.finding is (held or not used)


@pytest.mark.parametrize("how", ["loaded", "as made", "written by hand"])
def test_loaded_weights_that_a_list_leaves_out_are_frozen(how: str) -> None:
    with gradtool.watching():
        body, head = nn.Linear(2, 2), nn.Linear(2, 1)
        if how == "loaded":
            body.set_state_dict(nn.Linear(2, 2).state_dict())
        paddle.optimizer.SGD(0.1, parameters=head.parameters())

        def forward() -> paddle.Tensor:
            return head(body(paddle.ones([3, 2]))).sum()

        forward().backward()
        if how == "written by hand":
            body.weight.set_value(body.weight - 0.1 * body.weight.grad)
        told = answer(forward(), body.weight)
    expected = {"loaded": Verdict.FROZEN, "as made": Verdict.NOT_LISTED, "written by hand": Verdict.OK}
    assert told.verdict is expected[how]
    assert told.finding is (how == "as made")
    if how == "loaded":
        assert told.label.startswith("frozen: left out of the optimizer's list, ")
        assert told.code.startswith("paddle.optimizer.SGD(")


@pytest.mark.parametrize("setting", ["stop_gradient", "trainable"])
@pytest.mark.parametrize("passes", [0, 1, 2])
@pytest.mark.parametrize("listed", ["both", "one", "one, later"])
def test_frozen_is_a_finding_after_gradients_that_its_optimizer_used(setting: str, passes: int, listed: str) -> None:
    with gradtool.watching():
        w, v = parameter(1, 2), parameter(3, 4)
        paddle.optimizer.SGD(0.1, parameters=[v] if listed == "one" else [w, v])

        def forward() -> paddle.Tensor:
            return (w * v).sum()

        for _ in range(passes):
            forward().backward()
        setattr(w, setting, setting == "stop_gradient")
        if listed == "one, later":
            paddle.optimizer.SGD(0.1, parameters=[v])
        told = answer(forward(), w)
    value = {"stop_gradient": "stop_gradient=True", "trainable": "trainable=False"}[setting]
    assert told.code == 'setattr(w, setting, setting == "stop_gradient")'
    if passes and listed == "both":
        assert (told.verdict, told.finding) == (Verdict.STOP_GRADIENT, True)
        count = "first backward pass" if passes == 1 else "first 2 backward passes"
        assert f"the {count} gave it a gradient, then {value} was set" in told.said[0]
    else:
        assert (told.verdict, told.finding) == (Verdict.FROZEN, False)
        assert told.label == f"frozen: {value}, set at {told.source}"


# -- replaced and forgotten -------------------------------------------------------------------------------------------


def test_a_replaced_parameter_is_told_with_the_one_in_its_place() -> None:
    with gradtool.watching():
        net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 3))
        before = net[1].weight
        paddle.optimizer.SGD(0.1, parameters=net.parameters())
        net[1] = nn.Linear(2, 1)
        loss = net(paddle.ones([1, 2])).sum()
        new, old = answer(loss, net[1].weight), answer(loss, before)
    assert (new.verdict, new.finding) == (Verdict.NOT_LISTED, True)
    assert new.code.startswith("paddle.optimizer.SGD(")
    assert [(w, at[0][1] - new.location[0][1]) for w, at in new.places] == [("took the place of another", 1)]
    assert (old.verdict, old.finding) == (Verdict.UNUSED, False)
    assert "took its place" in old.said[0]


# -- the cause --------------------------------------------------------------------------------------------------------


def through_a_guard(w: paddle.Tensor) -> paddle.Tensor:
    with paddle.no_grad():  # the block
        with paddle.enable_grad():
            pass
        return w * 2.0


def through_a_switch(w: paddle.Tensor) -> paddle.Tensor:
    paddle.set_grad_enabled(False)  # the switch
    result = w * 2.0
    paddle.set_grad_enabled(True)
    return result


@paddle.no_grad()  # the decorator
def through_a_decorator(w: paddle.Tensor) -> paddle.Tensor:
    return w * 2.0


@pytest.mark.parametrize(
    ("way", "cause"),
    [(through_a_guard, "the block"), (through_a_switch, "the switch"), (through_a_decorator, "the decorator")],
)
def test_the_guard_is_the_cause_and_the_call_the_place_of_the_cut(
    way: Callable[[paddle.Tensor], paddle.Tensor], cause: str
) -> None:
    with gradtool.watching():
        w, v = parameter(1, 2), parameter(3, 4)
        told = answer((way(w) * v).sum(), w)
    assert told.verdict is Verdict.NO_GRAD
    assert told.code.endswith(f"# {cause}")
    ((what, code),) = [(p["what"], p["code"]) for p in told.data()["places"]]
    assert what == "cut at"
    assert "w * 2.0" in code
    assert told.operator != told.source


def test_a_journal_that_begins_inside_a_guard_knows_the_call_alone() -> None:
    w, v = parameter(1, 2), parameter(3, 4)
    watching: AbstractContextManager[object] = gradtool.watching()
    with paddle.no_grad():
        watching.__enter__()
        h = w * 2.0
    told = answer((h * v).sum(), w)
    watching.__exit__(None, None, None)
    assert told.verdict is Verdict.NO_GRAD
    assert told.code == "h = w * 2.0"


# -- zeros ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", ["scale", "mask", None])
def test_a_constant_zero_factor_outranks_the_minimum(factor: str | None) -> None:
    with gradtool.watching():
        w = parameter(0, 0) if factor is None else parameter(1, 2)
        mask = paddle.zeros([2])
        h = {"scale": lambda: paddle.scale(w, 0.0), "mask": lambda: w * mask, None: lambda: w * 3.0}[factor]()
        told = answer(h.square().sum(), w)
    if factor is None:
        assert (told.verdict, told.finding) == (Verdict.AT_MINIMUM, False)
    else:
        assert (told.verdict, told.finding) == (Verdict.TIMES_ZERO, True)


# -- lost uses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_use_that_gives_no_gradient_is_a_note(lost: int) -> None:
    with gradtool.watching():
        w = parameter(1, 2)
        whole = w * 2.0
        taken = [(w * 3.0).detach() for _ in range(lost)]
        loss = sum(taken, whole).sum()
        told = answer(loss, w)
    assert (told.verdict, told.finding) == (Verdict.OK, False)
    assert told.label == (f"{lost} of {lost + 1} uses detached" if lost else "ok")
    assert "detach" in told.code if lost else told.code


def test_uses_of_earlier_steps_are_not_lost() -> None:
    with gradtool.watching():
        w = parameter(1, 2)
        state = paddle.zeros([2])
        for _ in range(3):
            state = state.detach() + w * 2.0
            loss = state.sum()
            loss.backward(retain_graph=True)
        assert answer(loss, w).label == "ok"


def test_a_python_number_in_the_loss_is_a_cut() -> None:
    with gradtool.watching():
        w, v = parameter(1, 2), parameter(3, 4)
        print((w * 3.0).sum().item())
        seen = (w * 2.0).sum()
        loss = v.sum() + 0.5 * seen.item()
        told = answer(loss, w)
        beside = answer(v.sum() * 2.0, w)
    assert told.verdict is Verdict.DETACHED
    assert told.code == "loss = v.sum() + 0.5 * seen.item()"
    assert beside.verdict is Verdict.NO_PATH


@pytest.mark.parametrize("before", [False, True])
def test_a_use_as_a_python_number_beside_others_is_a_note(before: bool) -> None:
    with gradtool.watching():
        w = parameter(1, 2)
        if before:
            w.sum().backward()
        loss = (w * 3.0).sum() * float(w.sum())
        told = answer(loss, w)
        other = answer((w * 2.0).sum(), w)
    assert (told.verdict, told.label, told.finding) == (Verdict.OK, "one use detached", False)
    assert told.code == "loss = (w * 3.0).sum() * float(w.sum())"
    assert other.label == "ok"


# -- what not every step needs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("earlier", [False, True])
def test_a_parameter_that_the_last_step_had_no_use_for_is_meant_if_another_used_it(earlier: bool) -> None:
    with gradtool.watching():
        always, sometimes = parameter(1, 2), parameter(3, 4)
        for step in range(2):
            h = always * 2.0
            used = sometimes * 3.0 if earlier and step == 0 else None
            loss = (h if used is None else h + used).sum()
            loss.backward()
            sometimes.numpy()  # a log of values is no way to the loss
            always.set_value(np.array([step, step], "float32"))
        told = answer(loss, sometimes)
    assert told.finding is not earlier
    if earlier:
        assert told.said == ("1 other backward pass gave it a gradient, this one had none",)


def test_values_that_leave_in_this_step_are_a_finding_whatever_earlier_steps_did() -> None:
    with gradtool.watching():
        body, head = parameter(1, 2), parameter(3, 4)
        for step in range(3):
            h = body * 2.0
            h = paddle.to_tensor(h.numpy()) if step else h
            loss = (h * head).sum()
            loss.backward()
        told = answer(loss, body)
    assert (told.verdict, told.finding) == (Verdict.DETACHED, True)


def test_what_became_of_the_values_of_a_layer_that_was_replaced_is_no_finding() -> None:
    with gradtool.watching():
        net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 3))
        before = net[1]
        net.set_state_dict({k: v * 1.0 for k, v in net.state_dict().items()})
        net[1] = nn.Linear(2, 1)
        told = answer(net(paddle.ones([3, 2])).sum(), before.weight)
    assert (told.has_gradient, told.finding) == (False, False)


@pytest.mark.parametrize("training", [False, True])
def test_running_statistics_are_not_trained_though_all_parameters_are_unfrozen(training: bool) -> None:
    with gradtool.watching():
        norm = nn.BatchNorm1D(2)
        for p in norm.parameters():
            p.stop_gradient = False
        norm.train() if training else norm.eval()
        told = answer(norm(paddle.rand([4, 2])).square().sum(), norm._mean)
    assert (told.verdict, told.finding) == (Verdict.FROZEN, False)
    assert told.label == "frozen: running statistics of batch_norm"


@pytest.mark.parametrize("cleared", [False, True])
def test_a_copy_that_makes_targets_in_the_graph_is_no_matter_of_clearing(cleared: bool) -> None:
    with gradtool.watching(), keep_graphs():
        online, target = parameter(1, 2), parameter(3, 4)
        opt = paddle.optimizer.SGD(0.1, parameters=[online])
        for _ in range(3):
            loss = (online - target * 2.0).square().sum()
            loss.backward()
            opt.step()
            opt.clear_grad()
            target.set_value(online)
            if cleared:
                target.clear_gradient()
        restore(nodes_behind([loss]))
        told = answer(loss, target)
    if cleared:
        assert not told.finding
    else:
        assert (told.verdict, told.finding) == (Verdict.NOT_LISTED, True)
        assert "detach" in told.advice
        assert told.code.startswith("loss = (online - target")


@pytest.mark.parametrize("unfrozen", ["nothing", "a part", "all"])
def test_a_second_stage_whose_optimizer_has_more_that_is_still_frozen_is_a_finding(unfrozen: str) -> None:
    with gradtool.watching(), keep_graphs():
        head, last, first = parameter(1, 2), parameter(3, 4), parameter(5, 6)
        first.stop_gradient = last.stop_gradient = True
        for stage in (1, 2):
            if stage == 2 and unfrozen != "nothing":
                last.stop_gradient, first.stop_gradient = False, unfrozen == "a part"
            opt = paddle.optimizer.SGD(0.1, parameters=[head] if stage == 1 else [head, last, first])
            loss = (head * last * first).sum()
            loss.backward()
            opt.step()
            opt.clear_grad()
        restore(nodes_behind([loss]))
        told = answer(loss, first)
    assert told.finding is (unfrozen == "nothing")
    assert told.verdict is {"nothing": Verdict.STOP_GRADIENT, "a part": Verdict.FROZEN, "all": Verdict.OK}[unfrozen]


@pytest.mark.parametrize("written", [False, True])
def test_an_average_of_weights_is_kept_for_evaluation(written: bool) -> None:
    with gradtool.watching(), keep_graphs():
        online = parameter(1, 2)
        opt = paddle.optimizer.SGD(0.1, parameters=[online])
        average = parameter(3, 4)
        for _ in range(2):
            loss = online.square().sum()
            loss.backward()
            opt.step()
            opt.clear_grad()
            if written:
                average.set_value(0.9 * average.detach() + 0.1 * online.detach())
        with paddle.no_grad():
            average.square().sum()
        told = answer(loss, average)
    assert told.finding is not written
    assert any("its values are written" in s for s in told.said) is written


@pytest.mark.parametrize("later", [False, True])
def test_a_parameter_made_after_the_backward_pass_is_no_finding(later: bool) -> None:
    """A block with branches becomes one layer after the training; one that was there before was forgotten."""
    with gradtool.watching():
        w = parameter(1, 2)
        loss = w.square().sum()
        if not later:
            other = parameter(3, 4)
        loss.backward()
        if later:
            other = paddle.create_parameter([2], "float32")
        with paddle.no_grad():
            (other * 2.0).sum()
        told = answer(loss, other)
    assert told.verdict is Verdict.NO_PATH
    assert told.finding is not later
    assert ("it was made after this backward pass" in told.said) is later


@pytest.mark.parametrize("taken", ["", "at once", "cleared before"])
def test_a_zero_that_no_update_takes_is_no_finding(taken: str) -> None:
    """Where the optimizer of what has the zero goes on with this very gradient, it is one."""
    with gradtool.watching():
        actor, critic, other = parameter(1.0), parameter(2.0), parameter(9.0)
        own = paddle.optimizer.SGD(0.1, parameters=[critic, other])
        its = paddle.optimizer.SGD(0.1, parameters=[actor])
        ((critic - 1.0).square() + (other - 1.0).square()).sum().backward()
        own.step()
        own.clear_grad()
        loss = paddle.minimum(actor + critic + 50.0, actor + other).sum()
        loss.backward(retain_graph=True)
        its.step()
        if taken == "cleared before":
            own.clear_grad()
        if taken:
            own.step()
        told = answer(loss, critic)
    assert told.verdict is (Verdict.CLEARED if taken == "cleared before" else Verdict.NOT_SELECTED)
    assert told.finding is bool(taken)
    assert any("this pass trains others" in s for s in told.said) is (not taken)


def test_a_zero_before_any_update_is_a_finding() -> None:
    """What a watch ended before was perhaps about to take it."""
    with gradtool.watching():
        w, other = parameter(1.0), parameter(2.0)
        opt = paddle.optimizer.SGD(0.1, parameters=[w, other])
        (w * other).sum().backward()
        opt.step()
        opt.clear_grad()
        loss = paddle.minimum(w + 50.0, other).sum()
        loss.backward(retain_graph=True)
        told = answer(loss, w)
    assert told.verdict is Verdict.NOT_SELECTED
    assert told.finding
