"""The runs of the corpus, played without torch: ``why`` finds what is wrong in each, and nothing in the right ones."""

import pytest

from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.request.request import Request
from tests.sampling import sampled

from .answers import CORPUS, RUNS, answered, expected, judged, names, rules_expected, rules_found

pytestmark = pytest.mark.usefixtures("no_rule_raises")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", names())
def test_what_is_wrong_is_found(name):
    assert answered(RUNS / f"{name}.torchrun") == expected(CORPUS / f"{name}.py")


@pytest.mark.parametrize("name", sampled(judged(), lambda name: f"gate {name}", one_in=10))
def test_the_gate_finds_it_and_nothing_else(name):
    assert rules_found(RUNS / f"{name}.torchrun") == rules_expected(CORPUS / f"{name}.py")


@pytest.mark.parametrize("name", ["r_two_views", "r_low_rank"])
def test_a_gradient_of_rounding_or_behind_a_low_rank_does_not_vanish(name):
    run = RUNS / f"{name}.torchrun"
    assert findings(Request(str(run)), run.name, Selection(select=("GT204",))) == []
