"""Functions of gradtool take a loss of PyTorch's: the graph alone answers, or more where somebody listened."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import gradtool
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.core.errors import ArgumentTypeError, LossError, UsageError
from gradtool.testing import assert_all_parameters_get_gradients, assert_gradcheck, assert_no_nan
from tests.live_torch.networks import TwoLayers, loss_of, names_of_torch


def test_the_graph_alone_says_which_parameters_it_leads_to() -> None:
    net = TwoLayers(cut=True)
    loss = loss_of(net)
    (found,) = gradtool.why(loss)
    assert found.verdict is Verdict.UNSEEN
    assert (found.name, found.also) == ("net.body.weight", ("net.body.bias",))
    assert found.location == ()
    assert "unused, detached and computed under no_grad look alike in a graph" in str(found)
    right = TwoLayers()
    assert not [a for a in gradtool.why(loss_of(right)) if a.name.startswith("right.")]


def test_a_chosen_leaf_is_answered_about_with_its_gradient() -> None:
    net = TwoLayers()
    loss = loss_of(net)
    (found,) = gradtool.why(loss, net.head.bias)
    assert found.verdict is Verdict.OK
    (gradient,) = torch.autograd.grad(loss, [net.head.bias], retain_graph=True)
    assert found.gradient is not None
    assert found.gradient.norm == pytest.approx(float(gradient.norm()))
    with pytest.raises(ArgumentTypeError, match="must be a tensor of PyTorch"):
        gradtool.why(loss, "net.head.bias")


def test_a_loss_without_a_graph_and_a_freed_one() -> None:
    net = TwoLayers()
    (found,) = gradtool.why(loss_of(net).detach())
    assert "the loss has no graph" in str(found)
    loss = loss_of(net)
    loss.backward()
    held = {n: p.grad.clone() for n, p in net.named_parameters()}
    (found,) = gradtool.why(loss, net.head.weight)
    assert found.verdict is Verdict.OK
    assert "PyTorch has freed the graph: what .grad holds now is shown" in str(found)
    for question in (gradtool.stats, gradtool.nan, gradtool.saved):
        with pytest.raises(LossError, match="PyTorch has freed the graph"):
            question(loss)
    assert all(torch.equal(p.grad, held[n]) for n, p in net.named_parameters())


def test_sizes_are_those_of_torch_and_nothing_changes() -> None:
    net, before = TwoLayers(), names_of_torch()
    loss = loss_of(net)
    state = torch.get_rng_state()
    sizes = {line.name: line.size for line in gradtool.stats(loss).parameters}
    assert torch.equal(torch.get_rng_state(), state)
    assert names_of_torch() == before
    assert all(p.grad is None for p in net.parameters())
    loss.backward()
    assert sizes == pytest.approx({f"net.{n}": float(p.grad.norm()) for n, p in net.named_parameters()}, rel=1e-5)


def test_saved_counts_the_storages_that_torch_keeps() -> None:
    net, x = TwoLayers(), torch.randn(5, 4)
    seen: dict[int, torch.UntypedStorage] = {}

    def pack(t: torch.Tensor) -> torch.Tensor:
        seen[t.untyped_storage()._cdata] = t.untyped_storage()
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        loss = net(x).square().mean()
    story = gradtool.saved(loss)
    assert story.total + story.held == sum(storage.nbytes() for storage in seen.values())
    assert story.total == 5 * 3 * 4 + 5 * 4  # what tanh gave, which the next layer reads too; what square read


def test_nan_in_a_graph_and_in_a_function() -> None:
    w = torch.zeros(3, requires_grad=True)
    story = gradtool.nan(torch.sqrt(w).sum())
    assert not story.clean
    assert story.births[0].type == "SqrtBackward0_grad"
    story = gradtool.nan(lambda: torch.sqrt(w).sum())
    assert (story.births[0].type, story.births[0].loc[0][0].co_filename) == ("sqrt_grad", __file__)
    assert gradtool.nan(lambda: torch.log(w - 1).sum()).births[0].type == "log"
    assert gradtool.nan(lambda: loss_of(TwoLayers())).clean


def test_pictures_profiles_differences_and_sessions() -> None:
    net = TwoLayers()
    loss = loss_of(net)
    assert "TanhBackward0" in gradtool.graph(loss).text()
    with pytest.raises(UsageError, match="this loss has been computed unheard"):
        gradtool.flow(loss)
    x = torch.randn(5, 4)
    (pair,) = gradtool.flow(lambda: net(x).mean(), from_="x").pairs
    assert pair[2].answer == "yes"
    assert {"tanh", "tanh_grad"} <= {g.name for g in gradtool.profile(lambda: loss_of(net), repeats=1).group_by("type")}
    assert gradtool.gradcheck(lambda: loss_of(net)).is_passed
    book = gradtool.debug(loss, prompt=False)
    _, reply = book.execute('v["net.head.bias@GRAD"]')
    (gradient,) = torch.autograd.grad(loss, [net.head.bias], retain_graph=True)
    np.testing.assert_allclose(reply.value, gradient, rtol=1e-6)
    report = gradtool.report(lambda: loss_of(TwoLayers(cut=True)))
    assert "DETACHED" in str(report["verdict"])


def test_inside_watching_the_line_is_named() -> None:
    net, before = TwoLayers(cut=True, spare=True), names_of_torch()
    with gradtool.watching():
        loss = loss_of(net)
        cut, unused = gradtool.why(loss)
    assert cut.verdict is Verdict.DETACHED
    assert "h.detach() if self.cut" in cut.code
    assert (cut.name, cut.path[0]) == ("net.body.weight", "loss")
    assert unused.verdict is Verdict.UNUSED
    assert (unused.name, unused.also, unused.location) == ("net.spare.weight", ("net.spare.bias",), ())
    assert names_of_torch() == before


def test_claims_outside_of_pytest_are_judged_by_the_graph() -> None:
    net = TwoLayers(cut=True)
    loss = loss_of(net)
    from gradtool.cli.testing import losses

    before, losses._current[:] = list(losses._current), []
    try:
        with pytest.raises(AssertionError, match=r"net\.body\.weight   grad = None   verdict: NOT IN THE GRAPH"):
            assert_all_parameters_get_gradients(loss)
        assert_all_parameters_get_gradients(loss, except_="net.body.*")
        with pytest.raises(UsageError, match="nothing is known of the tensor"):
            assert_no_nan(loss)
        assert_gradcheck(lambda: loss_of(TwoLayers()))
    finally:
        losses._current[:] = before
