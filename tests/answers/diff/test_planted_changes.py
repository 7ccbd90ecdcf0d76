"""Random models with one change planted into each: it is named, and nothing else is; its values part there first."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from gradtool.engine.questions.diff import Diff, Differences
from gradtool.engine.request.request import Request
from tests.answers.diff.planted import drawn, number, planted

MODES = ("static", "eager")


def compared(folder: Path, before: str, after: str, *, values: bool = False) -> Differences:
    sides = []
    for name, text in (("before.py", before), ("after.py", after)):
        (folder / name).write_text(text, encoding="utf-8")
        sides.append(str(folder / name))
    return Diff(values=values).ask(tuple(sides), Request(sides[1]))


def named(seed: int, mode: str, folder: Path) -> bool:
    """Whether the change planted into a random model is told, and no other."""
    source = random.Random(seed)
    model = drawn(source)
    change = planted(source, model)
    told = compared(folder, model.text(mode), change.model.text(mode)).difference.changes
    return [c.kind for c in told] == [change.kind] and change.word in told[0].text


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(30))
def test_the_planted_change_is_named_and_nothing_else(seed: int, mode: str, tmp_path: Path) -> None:
    assert named(seed, mode, tmp_path)


@pytest.mark.sampled(4)
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
    for seed in range(15)
    for at, statement in enumerate(drawn(random.Random(seed)).statements)
    if statement.type == "scale"
]
"""Operators whose number matters whatever they read."""


@pytest.mark.sampled(2)
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


def main(count: int) -> int:
    """``python -m tests.answers.diff.test_planted_changes 300``: how many of so many planted changes are named."""
    with TemporaryDirectory() as folder:
        wrong = [
            (seed, mode) for seed in range((count + 1) // 2) for mode in MODES if not named(seed, mode, Path(folder))
        ]
    print(
        f"{2 * ((count + 1) // 2) - len(wrong)} of {2 * ((count + 1) // 2)} planted changes are named first and alone"
    )
    for seed, mode in wrong:
        print(f"  seed {seed}, {mode}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
