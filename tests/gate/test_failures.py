"""Rules that raise: each costs itself alone."""

from dataclasses import replace

import pytest

from gradtool.engine.gate import rules
from gradtool.engine.gate.checking import findings, judge_evidence
from gradtool.engine.gate.evidence import Evidence
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

RULES = rules.every()

BROKEN = """\
import paddle

paddle.seed(0)
net, head = paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.1, parameters=[*net.parameters(), *head.parameters()])
for _ in range(2):
    loss = head(net(paddle.rand([4, 3])).detach()).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
"""A model with one finding, GT103."""


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """What is known of the model: answers stay, so that the file runs for all tests together."""
    file = tmp_path_factory.mktemp("failures") / "model.py"
    file.write_text(BROKEN, encoding="utf-8")
    return Evidence(Request(str(file)), "model.py")


@pytest.fixture
def evidence(answered):
    answered.failures.clear()
    answered.unasked.clear()
    return answered


def raising(code, monkeypatch, error):
    def look(evidence, options):
        raise error
        yield

    table = {**rules.really(), code: replace(rules.really()[code], look=look)}
    monkeypatch.setattr(rules, "every", lambda: table)
    monkeypatch.setattr(rules, "_match", lambda s: tuple(r for r in table.values() if r.code == s))


@pytest.mark.parametrize("code", [code for code, rule in RULES.items() if not rule.golden])
def test_each_rule_that_raises_costs_itself_alone(code, evidence, monkeypatch):
    raising(code, monkeypatch, IndexError("tuple index out of range"))
    selected = tuple(dict.fromkeys(["GT103", "GT201", code, "GT901"]))
    found = judge_evidence(evidence, Selection(select=selected))
    told = [f for f in found if f.code == "GT901" and f.message.startswith(f"{code}: ")]
    assert [f.message for f in told] == [f"{code}: gradtool itself failed there: IndexError: tuple index out of range"]
    assert ("GT103" in [f.code for f in found]) == (code != "GT103")


def test_what_the_engine_refuses_one_rule_costs_that_rule(evidence, monkeypatch):
    from gradtool.engine.core.errors import UnsupportedError

    raising("GT201", monkeypatch, UnsupportedError("no kernel"))
    found = judge_evidence(evidence, Selection(select=("GT103", "GT201", "GT901")))
    assert [f.code for f in found] == ["GT103", "GT901"]
    assert found[1].message == "GT201: no kernel"


def test_a_question_that_raises_costs_the_rules_that_ask_it_in_one_line(evidence, monkeypatch):
    again = Evidence(evidence.request, "model.py")

    def influences(self):
        raise IndexError("tuple index out of range")

    monkeypatch.setattr(Evidence, "influences", property(influences))
    found = judge_evidence(again, Selection())
    assert [f.code for f in found] == ["GT103", "GT901"]
    codes, _, why = found[1].message.partition(": ")
    assert why == "gradtool itself failed there: IndexError: tuple index out of range"
    assert {"GT208", "GT601", "GT605", "GT706"} <= set(codes.split(", "))


def test_the_example_of_a_file_that_raises_stays_one_finding(tmp_path):
    file = tmp_path / "raises.py"
    file.write_text("import paddle\nraise ValueError('no data')\n", encoding="utf-8")
    assert [f.code for f in findings(Request(str(file)), "raises.py", Selection())] == ["GT903"]


@pytest.mark.parametrize("chosen", [("GT103",), ("GT103", "GT901"), ("GT103", "GT201")])
def test_a_model_that_no_rule_could_look_at_is_an_error(evidence, monkeypatch, chosen):
    table = dict(rules.really())
    for code in chosen:
        if code != "GT901":
            table[code] = replace(table[code], look=_fail)
    monkeypatch.setattr(rules, "every", lambda: table)
    monkeypatch.setattr(rules, "_match", lambda s: tuple(r for r in table.values() if r.code == s))
    (found,) = judge_evidence(evidence, Selection(select=chosen))
    assert (found.code, found.severity.name) == ("GT903", "ERROR")
    assert found.message == "no rule could answer: every one that looks at the model failed"
    codes = ", ".join(code for code in chosen if code != "GT901")
    assert found.explanation == (f"{codes}: gradtool itself failed there: IndexError: tuple index out of range",)


def _fail(evidence, options):
    raise IndexError("tuple index out of range")
    yield


def test_check_fails_where_no_rule_could_answer(tmp_path, monkeypatch, capsys):
    from gradtool.cli.main import main

    (tmp_path / "train.py").write_text(BROKEN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    table = {code: replace(rule, look=_fail) for code, rule in rules.really().items()}
    monkeypatch.setattr(rules, "every", lambda: table)
    with pytest.raises(SystemExit) as ended:
        main(["check", "train.py", "--no-cache"])
    said = capsys.readouterr().out
    assert ended.value.code == 1
    assert "GT903 not-loaded · error: no rule could answer: every one that looks at the model failed" in said
    assert "gradtool itself failed there: IndexError: tuple index out of range" in said


def test_the_head_of_a_page_counts_the_rules_that_failed(tmp_path, monkeypatch, capsys):
    from gradtool.cli.main import main

    (tmp_path / "train.py").write_text(BROKEN.replace(".detach()", ""), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    table = {code: replace(rule, look=_fail) if code in ("GT103", "GT201") else rule for code, rule in RULES.items()}
    monkeypatch.setattr(rules, "every", lambda: table)
    with pytest.raises(SystemExit):
        main(["train.py"])
    head, *_ = capsys.readouterr().out.splitlines()
    assert head.endswith("no findings in all 2 passes · 2 rules failed")
