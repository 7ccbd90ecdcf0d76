"""``with gradtool.recording():`` around steps of a loop: they stay what they were, and every question has an answer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

import gradtool
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.core.errors import UsageError
from tests.live_torch.networks import TwoLayers, names_of_torch, steps


def test_the_loop_computes_what_it_computes_and_no_patch_stays() -> None:
    before = names_of_torch()
    torch.manual_seed(0)
    plain = TwoLayers()
    losses = steps(plain, 2) + steps(plain, 3) + steps(plain, 2)
    drawn = torch.get_rng_state()
    torch.manual_seed(0)
    recorded = TwoLayers()
    again = steps(recorded, 2)
    with gradtool.recording() as run:
        again += steps(recorded, 3)
    again += steps(recorded, 2)
    assert again == losses
    assert torch.equal(torch.get_rng_state(), drawn)
    assert all(torch.equal(p, q) for p, q in zip(plain.parameters(), recorded.parameters(), strict=True))
    assert names_of_torch() == before
    assert repr(run) == "<a run of test_recording.py, backward passes: 3>"


def test_a_run_answers_as_a_script_does() -> None:
    net = TwoLayers(cut=True, spare=True)
    with gradtool.recording() as run:
        steps(net, 2)
    cut, unused = run.why()
    assert (cut.name, cut.verdict, cut.also) == ("net.body.weight", Verdict.DETACHED, ("net.body.bias",))
    assert cut.location[0][0].co_filename == steps.__code__.co_filename
    assert unused.verdict is Verdict.UNUSED
    assert unused.location == ()  # it was there before: where is not known
    rows = {line.name: line for line in run.stats().story.parameters}
    assert rows["net.head.weight"].size == pytest.approx(float(net.head.weight.grad.norm()), rel=1e-5)
    assert run.nan().story.clean
    assert run.saved().story.total > 0
    assert [pair[2].answer for pair in run.flow(from_=("x",)).pairs] == ["yes"]
    assert run.gradcheck().story.is_passed
    assert gradtool.check(run, select="GT1", jobs=0).findings == 1
    assert "mse_loss" in gradtool.debug(run, prompt=False).execute("list")[0].text


def test_factories_and_plain_numbers_are_repeated() -> None:
    x, places = torch.randn(3, 4, requires_grad=True), torch.arange(4)
    with gradtool.recording() as run:
        padded = x + torch.zeros_like(x) + x.new_full((4,), 2.0)
        (padded * (places * 6) + -1.5 * places / 4).sum().backward()
    assert [pair[2].answer for pair in run.flow(from_=("places",)).pairs] == ["yes"]


def test_a_run_in_a_file_is_a_model_of_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with gradtool.recording("steps.torchrun") as run:
        steps(TwoLayers(cut=True), 1)
    assert os.fspath(run) == "steps.torchrun"
    assert gradtool.load("steps.torchrun").why()[0].verdict is Verdict.DETACHED
    run.save("again.torchrun")
    assert Path("again.torchrun").read_bytes() == Path("steps.torchrun").read_bytes()
    with pytest.raises(UsageError, match="a run is written to a file"):
        run.save("steps.npz")


def test_a_loss_without_a_backward_pass_is_differentiated() -> None:
    net = TwoLayers(cut=True)
    with gradtool.recording() as run:
        loss = net(torch.ones(2, 4)).sum()
    assert run.why()[0].name == "net.body.weight"
    assert all(p.grad is None for p in net.parameters())
    loss.backward()
    assert net.head.bias.grad is not None


def test_an_error_of_the_loop_passes() -> None:
    runs, before = [], names_of_torch()

    def train() -> None:
        net = TwoLayers()
        with gradtool.recording() as run:
            runs.append(run)
            loss = net(torch.ones(2, 4)).sum()
            loss.backward()
            loss.backward()

    with pytest.raises(RuntimeError, match="second time"):
        train()
    assert names_of_torch() == before
    (found,) = runs[0].why()
    assert found.verdict is Verdict.FREED


def test_what_is_asked_too_early_and_twice() -> None:
    with gradtool.recording() as run:
        with pytest.raises(UsageError, match="still being recorded"):
            run.why()
        with pytest.raises(UsageError, match="being recorded already"), gradtool.recording():
            pass
        steps(TwoLayers(), 1)
    assert not any(a.finding for a in run.why())


def test_inside_watching_a_recording_hears_alone() -> None:
    net = TwoLayers(cut=True)
    with gradtool.watching():
        with gradtool.recording() as run:
            steps(net, 1)
        loss = net(torch.ones(2, 4)).sum()
        found = gradtool.why(loss)[0]
    assert found.verdict is Verdict.DETACHED
    assert run.why()[0].verdict is Verdict.DETACHED
