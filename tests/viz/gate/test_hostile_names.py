"""Names that somebody has chosen to break a report, or whoever reads it: in every form, in every field."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from tap.parser import Parser

from gradtool.engine.gate import rules
from gradtool.engine.gate.finding import EXTERNAL, IN_SOURCE, Finding, Severity, Spot, Suppressed
from gradtool.engine.gate.report import Report
from gradtool.viz import gate
from gradtool.viz.text import inert

FORMS = gate.names()

HOSTILE = {
    "a workflow command": "::stop-commands::x",
    "an error of a workflow": "::error file=a,line=1::no",
    "behind blanks": " \t ::add-mask::x",
    "an old command": "x ##[add-path]/evil",
    "a command of Azure": "x##vso[task.setvariable variable=a]b",
    "a command of TeamCity": "##teamcity[buildStop comment='x']",
    "a lone surrogate": "w\ud800",
    "the other half": "\udfffw",
    "an undecodable byte": "w\udcff",
    "a surrogate pair": "\ud83d\ude00",
    "control characters": "a\0b\x07c\x08d\x7f\x85\x9b31m",
    "a screen": "\x1b[2J\x1b]0;t\x07",
    "a link of a terminal": "\x1b]8;;http://x\x1b\\click\x1b]8;;\x1b\\",
    "right to left": "a\u202eb\u2066c\u200fd\u061c",
    "invisible": "a\u200bb\ufeffc\u2060\U000e0041",
    "new lines": "a\nb\rc\r\nd\u2028e\u2029f\x0bg\x0ch",
    "a line that is a command": "a\n::set-output name=x::y",
    "very long": "long" * 20_000,
    "quotes": "\"'`\\\"\\'",
    "markup": '<script>alert(1)</script><img src=x onerror=alert(1)>"&amp;]]>',
    "a table": "a | b \\| c\n|--|--|",
    "a directive": "ok # SKIP x # TODO y",
    "fences": "```\n---\n...\n~~~",
    "formats": "%s %n {0} $HOME `id` $(id)",
    "no characters": "\ufffe\uffff\U0010ffff",
    "nothing": "",
}
STRANGE = ("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn")
"""Categories of characters that nobody sees, or that do something."""
JSON = ("gitlab", "json", "rdjson", "sarif")
RULES = list(rules.every().values())[:3]


def finding(name: str) -> Finding:
    """A finding in which everything that somebody names is called so."""
    spot = Spot(f"/repo/{name.replace(chr(0), '')}", 3, 1, name)
    return Finding("GT103", "detached", Severity.ERROR, name, name, name, spot, (name, name), (name,), name)


def report(name: str) -> Report:
    placed = finding(name)
    bare = replace(placed, spot=None)
    suppressed = [Suppressed(placed, IN_SOURCE, name), Suppressed(bare, EXTERNAL, name)]
    return Report([placed, bare], [name], RULES, "/repo", suppressed=suppressed)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("what", HOSTILE)
def test_every_form_is_a_text_without_commands(form: str, what: str) -> None:
    text = gate.render(report(HOSTILE[what]), form)
    text.encode("utf-8")
    strange = {
        c for c in text if c not in "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn")
    }
    assert not strange
    for line in text.split("\n"):
        if form == "github":
            assert not line or re.match(r"::error (file=[^,:]*,line=3,col=1,)?title=GT103 detached::", line)
        else:
            assert not line.lstrip().startswith("::")
            assert re.search(r"##\w*\[", line) is None


@pytest.mark.parametrize("what", HOSTILE)
def test_every_form_is_what_its_reader_expects(what: str) -> None:
    name = HOSTILE[what]
    told = report(name)
    texts = {form: gate.render(told, form) for form in FORMS}
    assert len(texts["concise"].splitlines()) == len(told.results) + 1
    assert len(texts["github"].splitlines()) == len(told.results)
    assert len([line for line in texts["markdown"].splitlines() if line.startswith("|")]) == len(told.results) + 2
    rows = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", x)) for x in texts["markdown"].splitlines() if x.startswith("|")}
    assert rows == {6}
    for form in JSON:
        json.loads(texts[form])
    lines = [json.loads(line) for line in texts["jsonl"].splitlines()]
    twice = [json.loads(json.dumps(name))] * 2
    assert [row["model"] for row in lines] == twice
    assert [row["message"] for row in json.loads(texts["json"])["results"]] == twice
    cases = ET.fromstring(texts["junit"]).iter("testcase")
    assert len([*cases]) == len(told.results) + len(told.suppressed) + len(RULES) - ("GT103" in {r.code for r in RULES})
    ET.fromstring(texts["badge"])
    tests = [x for x in Parser().parse_text(texts["tap"]) if x.category == "test"]
    assert [x.ok for x in tests[:2]] == [False, False]
    assert [bool(x.skip) for x in tests[:4]] == [False, False, True, True]


def test_the_list_is_about_all_twelve_forms() -> None:
    assert len(FORMS) == 12


def test_what_is_no_command_stays() -> None:
    for text in ("a::b", "std::vector at x.py:3", "# comment", "## heading", "x[::2]", "a##b"):
        assert inert(text) == text
