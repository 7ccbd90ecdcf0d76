"""The mirror layout: where things stand, and that nothing lies over anything else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings

from gradtool import paddle
from gradtool.engine.ir import default
from gradtool.engine.loading import opening
from gradtool.engine.request.options import Cuts
from gradtool.engine.request.request import Request
from gradtool.engine.view.from_program import view
from gradtool.engine.view.graph import BACKWARD, FORWARD, GraphView
from gradtool.paddle import _alias
from gradtool.viz import fold
from gradtool.viz.mirror.layout import mirror
from tests.autodiff.random_programs import Net, Step, steps
from tests.parity import replay
from tests.viz.geometry import faults

SAMPLES = Path(__file__).parents[3] / "samples"
# Others read data sets that take long, or are given data.
OTHERS = ("eager_verses", "eager_digits", "eager_skip_gram", "ratios")
FILES = sorted(p for p in SAMPLES.glob("*.py") if p.stem not in OTHERS)
# Branches, several sweeps, layers, recomputed segments, optimizers, overwritten variables.
CASES = [
    n
    for n in replay.names("s")
    if n != "s201_py_func" and n[1:3] in ("03", "06", "07", "12", "14", "15", "16", "18", "19", "20")
]


@pytest.fixture
def sampled(request: pytest.FixtureRequest) -> Iterator[GraphView]:
    with opening.open_model(Request(str(request.param))) as model:
        yield model.draw(Cuts()).view


@pytest.mark.parametrize("sampled", FILES, ids=lambda p: p.stem, indirect=True)
def test_nothing_overlaps_in_the_pictures_of_the_samples(sampled: GraphView) -> None:
    assert faults(mirror(sampled)) == []
    for part in (FORWARD, BACKWARD):
        assert faults(mirror(sampled.only(part))) == []
    for smaller in (fold.fold_repetitions(sampled), fold.layers(sampled), fold.automatic(sampled, 40)):
        assert faults(mirror(smaller)) == []
        assert len(smaller.drawn()) <= len(sampled.drawn())


@pytest.mark.parametrize("name", CASES)
def test_nothing_overlaps_in_recorded_programs(name: str) -> None:
    with _alias.active():
        whole = view(replay.Replay(name).main)
    assert faults(mirror(whole)) == []


@settings(max_examples=60)
@given(steps(25))
def test_nothing_overlaps_in_random_programs(recipe: list[Step]) -> None:
    with default.fresh_programs(), paddle.utils.unique_name.guard():
        net = Net(recipe)
        paddle.static.append_backward(net.loss, [v for v in net.sources if v.is_parameter])
        whole = view(net.program, loss=net.loss)
        assert faults(mirror(whole)) == []
        assert faults(mirror(fold.automatic(whole, 20))) == []
