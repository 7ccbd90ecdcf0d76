"""The table of the reports stands for all scripts, and says what ``check`` finds."""

from __future__ import annotations

import gc

import pytest

from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.request.request import Request

from . import RUNS, SCRIPTS
from .truths import TRUTHS, answer, rows

pytestmark = pytest.mark.usefixtures("no_rule_raises")


def test_the_table_has_all_scripts() -> None:
    assert {name: truth for name, (truth, _) in rows().items()} == TRUTHS
    assert {path.stem for path in SCRIPTS.glob("*.py")} - {"torch_limit_cut"} == set(TRUTHS)


@pytest.mark.filterwarnings("ignore::gradtool.engine.eager.calls.NoGraphWarning")
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", TRUTHS)
def test_the_table_says_what_is_found(name: str) -> None:
    assert rows()[name][1] == answer(name)


def test_nothing_depends_on_when_memory_is_given_back() -> None:
    """What reads a gradient was told by the address of its memory, which another tensor may have had before."""
    thresholds = gc.get_threshold()
    run = Request(str(RUNS / "torch_updates_by_hand.torchrun"))
    try:
        gc.set_threshold(50)
        found = findings(run, "updates_by_hand", Selection(select=("GT711",)))
    finally:
        gc.set_threshold(*thresholds)
    assert found == []
