"""Every rule on its own examples, and on models that are right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gradtool.engine.gate.rules as folder
from gradtool.engine.core.notes import SILENT
from gradtool.engine.gate import drift, rules
from gradtool.engine.gate.check import Check
from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.finding import Finding, Severity, Spot
from gradtool.engine.gate.policy import Policy
from gradtool.engine.gate.rule import Rule
from gradtool.engine.gate.selection import Selection
from gradtool.engine.gate.subject import Subject
from gradtool.engine.request.request import Request
from tests.sampling import sampled
from tests.scripts.test_scripts import CORRECT, header

pytestmark = pytest.mark.usefixtures("no_rule_raises")

RULES = rules.every()


def found(file: Path, rule: Rule, text: str) -> list[Finding]:
    """What the rules that are on find in an example, and the one that it is of."""
    file.write_text(text, encoding="utf-8")
    selection = Selection(extend=(rule.code,), options={rule.code: rule.shown}, golden=rule.golden)
    golden = kept(file.parent, rule) if rule.golden else None
    question = Check(policy=Policy(selection=selection), golden=golden, jobs=1 if rule.alone else 0, timeout=2.0)
    return list(question.ask([Subject(name=file.stem, target=str(file))]).results)


def kept(folder: Path, rule: Rule) -> str:
    """A golden file with the graph of the right example."""
    model, golden = folder / "kept.py", str(folder / "kept.gt.txt")
    model.write_text(rule.right, encoding="utf-8")
    drift.update(Request(str(model)), golden, SILENT)
    return golden


def test_the_rules_are_the_folder() -> None:
    there = {f.stem for f in Path(folder.__file__).parent.glob("*.py") if f.name[0] != "_"}
    assert len(RULES) == len(there)
    assert all(re.fullmatch(r"GT[1-9]\d\d", code) for code in RULES)
    assert len({r.name for r in RULES.values()}) == len(RULES)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("code", RULES)
def test_the_wrong_example_has_the_finding(code: str, tmp_path: Path) -> None:
    rule = RULES[code]
    results = found(tmp_path / "wrong.py", rule, rule.wrong)
    assert code in [f.code for f in results]
    assert all(f.severity.reaches(rule.severity) and f.rule == rule.name for f in results if f.code == code)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("code", RULES)
def test_the_right_example_has_none(code: str, tmp_path: Path) -> None:
    results = found(tmp_path / "right.py", RULES[code], RULES[code].right)
    assert [f for f in results if not says_flow_was_not_asked(f)] == []


def says_flow_was_not_asked(finding: Finding) -> bool:
    """Whether it is the note that there is no call of a layer to ask about: a static program, or no layer at all."""
    return finding.code == "GT901" and "the flow of information (" in finding.message


@pytest.mark.filterwarnings("ignore:.*makes no effect")
@pytest.mark.parametrize("script", sampled(CORRECT, lambda file: file.stem, 12), ids=lambda file: file.stem)
def test_scripts_that_are_right_have_no_error(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(script.parent)
    words = tuple(header(script).get("arguments", "").split())
    results = findings(Request.create(script.name, script=words), script.name, Selection())
    assert [f for f in results if f.severity is Severity.ERROR] == []
    assert [f for f in results if f.code == "GT204"] == []


@pytest.mark.parametrize(
    ("squash", "fall", "codes"), [("sigmoid", 1e-3, ["GT204"]), ("sigmoid", 1e-9, []), ("tanh", 1e-3, [])]
)
def test_gradients_that_shrink_over_eight_layers(squash: str, fall: float, codes: list[str], tmp_path: Path) -> None:
    file = tmp_path / "deep.py"
    file.write_text(
        "import paddle\nimport paddle.nn.functional as F\npaddle.seed(0)\n"
        "layers = [paddle.nn.Linear(32, 32) for _ in range(8)]\nhead = paddle.nn.Linear(32, 3)\n"
        "h = paddle.rand([16, 32])\n"
        f"for layer in layers:\n    h = F.{squash}(layer(h))\n"
        "loss = F.cross_entropy(head(h), paddle.randint(0, 3, [16]))\nloss.backward()\n"
    )
    selection = Selection(select=("GT204",), options={"GT204": {"fall": fall}})
    results = findings(Request(str(file)), "deep", selection)
    assert [f.code for f in results] == codes
    assert all("from head.weight back to layers[0].weight" in f.message for f in results)


def test_a_code_or_a_name_or_the_beginning_of_codes_selects() -> None:
    assert [r.code for r in rules.find_matches("GT103")] == ["GT103"]
    assert [r.code for r in rules.find_matches("detached")] == ["GT103"]
    assert {r.code[:3] for r in rules.find_matches("gt1")} == {"GT1"}
    assert len(rules.find_matches("ALL")) == len(RULES)
    chosen = Selection(select=("GT1", "GT2"), ignore=("detached",), extend=("GT901",)).rules()
    assert [r.code for r in chosen] == [
        *(c for c in RULES if c[:3] in ("GT1", "GT2") and c != "GT103"),
        "GT901",
    ]


def test_fingerprints_stay_when_lines_move() -> None:
    def finding(line: int, text: str, subject: str = "w") -> Finding:
        return Finding("GT103", "detached", Severity.ERROR, "m", subject, "said", Spot("f.py", line, 1, text))

    assert finding(3, "x = y.detach()").fingerprint == finding(90, "x  =  y.detach()").fingerprint
    assert finding(3, "x = y.detach()").fingerprint != finding(3, "x = z.detach()").fingerprint
    assert finding(3, "x").fingerprint != finding(3, "x", "v").fingerprint
    assert re.fullmatch(r"[0-9a-f]{16}", finding(3, "x").fingerprint)
