"""Advice is tested: each is given about a script of its kind, and the finding is gone once it is followed."""

import re
from pathlib import Path

import pytest

from gradtool.engine.answers.why import advice
from gradtool.engine.answers.why.advice import EVERY
from gradtool.engine.answers.why.examples import BEGIN, EXAMPLES
from gradtool.engine.core.vocabulary import say
from gradtool.engine.questions.why import Why
from gradtool.engine.request.request import Request

PAIRS = [(found, name) for found in EVERY for name in found.examples]


def answers(tmp_path: Path, text: str, subject: str):
    """What ``why`` answers about a script."""
    end = "" if "backward(" in text else "\nloss.backward()"
    script = tmp_path / "script.py"
    script.write_text(f"{BEGIN}{text}{end}\n", encoding="utf-8")
    return list(Why(variables=(subject,) if subject else ()).ask(Request(str(script))))


@pytest.mark.parametrize(("found", "name"), PAIRS, ids=[name for _, name in PAIRS])
def test_a_finding_goes_when_its_advice_is_followed(found, name, tmp_path):
    before, after, subject = EXAMPLES[name]
    said = [a for a in answers(tmp_path, before, subject) if a.advice == say(found.text)]
    assert said, [str(a) for a in answers(tmp_path, before, subject)]
    later = answers(tmp_path, after, subject)
    assert not any(a.finding or a.advice == say(found.text) for a in later), [str(a) for a in later]


def test_each_example_belongs_to_an_advice():
    assert set(EXAMPLES) == {name for found in EVERY for name in found.examples}


def test_an_advice_without_an_example_cannot_be_made():
    with pytest.raises(ValueError, match="needs an example"):
        advice.Advice("try this", ())
    with pytest.raises(KeyError):
        advice.Advice("try this", ("an example that is not there",))


STRAIGHT = "net = nn.Linear(4, 3)\ncodes = nn.Linear(4, 3)\nh, q = net(x), codes(x)\n"


def test_a_straight_through_estimator_keeps_its_detach(tmp_path):
    found = answers(tmp_path, f"{STRAIGHT}loss = (h + (q - h).detach()).square().mean()", "codes.weight")
    assert [a.verdict.name for a in found] == ["DETACHED"]
    assert found[0].advice == ""


LABELS = {
    "an index": "table = nn.Embedding(3, 2)\nloss = table(h.argmax(axis=1)).mean()",
    "a label": "other = nn.Linear(4, 3)\nloss = F.cross_entropy(other(x), h.argmax(axis=1))",
    "a comparison": "other = nn.Linear(4, 1)\n"
    "loss = (other(x).squeeze(1) * (h.argmax(axis=1) == 1).astype('float32')).mean()",
}


@pytest.mark.parametrize("what", LABELS)
def test_softmax_is_no_advice_for(what, tmp_path):
    found = answers(tmp_path, f"net = nn.Linear(4, 3)\nh = net(x)\n{LABELS[what]}", "net.weight")
    assert found
    assert not any(re.search("softmax", a.advice) for a in found)
