"""What holds for which files and parameters, and findings that are known already."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

import gradtool.cli as command_line
from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.gate import baseline
from gradtool.engine.gate.baseline import Baseline
from gradtool.engine.gate.finding import Finding, Severity, Spot
from gradtool.engine.gate.policy import Override, Paths, Policy
from gradtool.engine.gate.selection import Selection
from gradtool.engine.gate.subject import Subject

SCHEMA = Path(command_line.__file__).parent / "schemas" / "baseline.json"


def finding(subject: str = "a.weight", file: str = "/repo/src/m.py", *also: str, text: str = "x = y") -> Finding:
    return Finding(
        "GT103", "detached", Severity.ERROR, "m.py", subject, f"{subject} is cut", Spot(file, 3, 1, text), also
    )


def subject(file: str = "/repo/src/m.py") -> Subject:
    return Subject(name="m.py", target=file)


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("m.py", True),
        ("src", True),
        ("src/", True),
        ("src/*.py", True),
        ("**/m.py", True),
        ("other", False),
        ("rc/m.py", False),
        ("M.py", False),
    ],
)
def test_paths_and_globs_are_below_their_folder(pattern: str, matches: bool) -> None:
    assert Paths("/repo", (pattern,)).match("/repo/src/m.py") is matches


def test_an_override_holds_for_its_files() -> None:
    policy = Policy(
        selection=Selection(select=("GT1",), options={"GT203": {"norm": 1.0, "ratio": 2.0}}),
        overrides=[
            Override(
                files=Paths("/repo", ("src",)), select=("GT2",), ignore=("GT205",), options={"GT203": {"norm": 5.0}}
            ),
            Override(files=Paths("/repo", ("src/m.py",)), severities={"GT203": Severity.NOTE}, extend=("GT901",)),
        ],
    )
    chosen = policy.selection_for(subject())
    assert (chosen.select, chosen.ignore, chosen.extend) == (("GT2",), ("GT205",), ("GT901",))
    assert chosen.options == {"GT203": {"norm": 5.0, "ratio": 2.0}}
    assert chosen.severities == {"GT203": Severity.NOTE}
    assert policy.selection_for(subject("/repo/b.py")) == policy.selection
    said = Policy(selection=policy.selection, overrides=policy.overrides, said=frozenset({"select"}))
    assert said.selection_for(subject()).select == ("GT1",)


def test_an_override_of_parameters_holds_for_them_alone() -> None:
    special = Override(
        parameters=("*.bias",), ignore=("GT205",), severities={"GT103": Severity.NOTE}, options={"GT203": {"norm": 5.0}}
    )
    policy = Policy(overrides=[special, Override(parameters=("b.*",), severities={"GT103": Severity.WARNING})])
    chosen = policy.selection_for(subject())
    assert (chosen.ignore, chosen.severities, chosen.options) == ((), {}, {})
    assert Selection.read(chosen.data()).special("GT203") == [(("*.bias",), {"norm": 5.0})]
    about = {
        name: policy.severity(replace(finding(name), also=also), subject(), chosen.severities)
        for name, also in {
            "a.weight": (),
            "a.bias": (),
            "b.bias": (),
            "c.bias": ("b.bias",),
            "d.bias": ("a.w",),
        }.items()
    }
    assert [*about.values()] == [Severity.ERROR, Severity.NOTE, Severity.WARNING, Severity.WARNING, Severity.ERROR]
    zero = replace(finding("a.bias", "/f.py", "a.weight"), code="GT205")
    assert policy.filter_finding(replace(zero, also=()), subject()) is None
    assert policy.filter_finding(zero, subject()) is not None
    elsewhere = Policy(overrides=[replace(special, files=Paths("/repo", ("lib",)))])
    assert elsewhere.filter_finding(replace(zero, also=()), subject()) is not None
    assert not elsewhere.selection_for(subject()).parameters


def test_findings_of_files_are_left_out() -> None:
    policy = Policy(per_file=[(Paths("/repo", ("src",)), ("GT1",))])
    assert policy.filter_finding(finding(), subject()) is None
    assert policy.filter_finding(finding(file="/repo/lib/x.py"), subject()) is not None
    whole = Finding("GT103", "detached", Severity.ERROR, "m.py", "", "said")
    assert policy.filter_finding(whole, subject()) is None
    assert policy.filter_finding(whole, subject("/repo/b.py")) is not None
    assert Policy(per_file=[(Paths("/repo", ("src",)), ("GT2",))]).filter_finding(finding(), subject()) is not None


def test_a_finding_stays_while_it_is_about_a_parameter_that_is_not_left_out() -> None:
    policy = Policy(per_parameter={"*.bias": ("detached",), "a.*": ("GT103",)})
    assert policy.filter_finding(finding("a.weight", "/f.py", "a.bias"), subject()) is None
    left = policy.filter_finding(finding("a.weight", "/f.py", "a.bias", "b.weight"), subject())
    assert left is not None
    assert left.also == ("b.weight",)
    assert policy.filter_finding(finding("b.weight"), subject()) == finding("b.weight")


def test_a_baseline_is_written_sorted_and_read_back(tmp_path: Path) -> None:
    found = [finding("b"), finding("a"), finding("a", text="z"), Finding("GT904", "c", Severity.ERROR, "m.py", "", "x")]
    whole = Baseline().renew(found, {"m.py"}, "/repo")
    text = whole.text()
    jsonschema.validate(json.loads(text), json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert [e["subject"] for e in whole.entries] == ["a", "a", "b"]
    assert whole.entries[0]["file"] == "src/m.py"
    (tmp_path / "b.json").write_text(text, encoding="utf-8")
    assert baseline.read(str(tmp_path / "b.json")) == whole
    assert Baseline().renew(found[::-1], {"m.py"}, "/repo").text() == text
    spot = Spot("/repo/src/m.py", 99, 5, "x  = y")
    moved = [replace(f, spot=spot) for f in found[:2]]
    assert whole.split([*moved, found[3]], {"m.py"}) == ([found[3]], [whole.suppress(f) for f in moved], 1)


def test_what_is_found_twice_is_known_twice() -> None:
    one = Baseline().renew([finding()], {"m.py"}, "/repo")
    new, known, gone = one.split([finding(), finding()], {"m.py"})
    assert (len(new), len(known), gone) == (1, 1, 0)


def test_models_that_were_not_checked_keep_their_entries() -> None:
    before = Baseline().renew([finding()], {"m.py"}, "/repo")
    assert before.renew([], {"other.py"}, "/repo") == before
    assert before.renew([], {"m.py"}, "/repo") == Baseline([])
    assert before.split([], {"other.py"}) == ([], [], 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "no such baseline"),
        ("[", "b.json: expected JSON"),
        ("{}", "expected schema: one of gradtool/baseline/1, but it is missing"),
        (
            '{"schema": "gradtool/baseline/1", "findings": [{}]}',
            r"expected findings\[0\].code: a text, but it is missing",
        ),
        ('{"schema": "gradtool/baseline/1", "findings": [], "more": 1}', "but it has 'more'"),
        ('{"schema": "gradtool/baseline/1", "findings": NaN}', "NaN stands there"),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "b.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(CommandError if text is None else FileFormatError, match=said):
        baseline.read(str(file))
