"""Random models with one change planted into each: it is named, and nothing else is; its values part there first."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gradtool.models.loader import Request
from gradtool.models.questions.diff import Diff, Differences
from tests.answers.diff.planted import drawn, number, planted

MODES = ("static", "eager")


def compared(folder: Path, before: str, after: str, *, values: bool = False) -> Differences:
    sides = []
    for name, text in (("before.py", before), ("after.py", after)):
        (folder / name).write_text(text, encoding="utf-8")
        sides.append(str(folder / name))
    return Diff(values=values).ask(tuple(sides), Request(sides[1]))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(150))
def test_the_planted_change_is_named_and_nothing_else(seed: int, mode: str, tmp_path: Path) -> None:
    source = random.Random(seed)
    model = drawn(source)
    change = planted(source, model)
    answer = compared(tmp_path, model.text(mode), change.model.text(mode))
    told = [(c.kind, c.text) for c in answer.difference.changes]
    assert [kind for kind, _ in told] == [change.kind], told
    assert change.word in told[0][1]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(20))
def test_nothing_differs_from_itself(seed: int, mode: str, tmp_path: Path) -> None:
    text = drawn(random.Random(seed)).text(mode)
    answer = compared(tmp_path, text, f"\n\n{text}", values=True)
    assert not answer.findings
    assert answer.values is not None
    assert answer.values.compared > 0


SCALES = [
    (seed, at)
    for seed in range(30)
    for at, statement in enumerate(drawn(random.Random(seed)).statements)
    if statement.type == "scale"
]
"""Operators whose number matters whatever they read."""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("seed", "at"), SCALES)
def test_values_part_at_the_planted_number(seed: int, at: int, mode: str, tmp_path: Path) -> None:
    model = drawn(random.Random(seed))
    answer = compared(tmp_path, model.text(mode), number(model, at).model.text(mode), values=True)
    assert answer.values is not None
    (first, *_) = answer.values.first
    assert first.part == "forward"
    assert first.before == answer.difference.changes[0].before[0]
    assert first.apart.differing > 0
    assert not any(p.part == "leaf" for p in answer.values.partings)
