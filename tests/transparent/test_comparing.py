"""Differences between a plain run and one under a question are found; a sample of the Paddle scripts has none."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from gradtool.engine.core.deviations import OTHERWISE

from .running import PLAIN, QUESTIONS, UNCOMPILED, Outcome, Runner, compare, peer_of
from .staging import Script, recorded, scripts, spread

RECORD = {
    "name": "__main__",
    "reached": True,
    "raised": "",
    "printed": "loss 1\nloss 2\n",
    "streams": [[False, "utf-8", "strict", 1, "<stdout>", "w"]],
    "steps": "2 abc",
    "values": {"w": "Parameter float32 (1,) 00 grad 11", "random state": "22"},
}
SAMPLE = 2
"""Scripts of Paddle that are run plainly and under every question."""

SAME = Outcome([RECORD], 0, files={"train.py": "33"})


def changed(**parts: object) -> Outcome:
    return replace(SAME, records=[{**RECORD, **parts}])


PLANTED = {
    "gradient": (
        changed(values={**RECORD["values"], "w": "Parameter float32 (1,) 00 grad 12"}),
        "w is Parameter float32 (1,) 00 grad 12, not Parameter float32 (1,) 00 grad 11",
    ),
    "value only here": (changed(values={**RECORD["values"], "v": "1"}), "v is 1, not None"),
    "streams": (changed(streams=[]), f"its streams are [], not {RECORD['streams']}"),
    "printed": (changed(printed="loss 1\nloss 3\n"), "printed 'loss 3', not 'loss 2', in line 2"),
    "printed more": (changed(printed="loss 1\nloss 2\n\n"), "printed '', not 'nothing', in line 3"),
    "steps": (changed(steps="2 abd"), "steps of optimizers: 2 abd, not 2 abc"),
    "end": (changed(reached=False), "did not come to its end"),
    "name": (changed(name="__model__"), "__name__ is __model__, not __main__"),
    "never ran": (replace(SAME, records=[], stderr="error: no"), "did not run to its end (exit code 0): error: no"),
    "crash": (replace(SAME, code=70, stderr="error: itself\n"), "exit code 70: error: itself"),
    "time": (replace(SAME, code=None), "still ran after its time"),
    "file": (replace(SAME, files={"train.py": "33", "best.pt": "44"}), "wrote best.pt"),
}


def test_the_same_is_no_difference() -> None:
    assert compare(SAME, SAME) == []


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_difference_is_found(name: str) -> None:
    asked, line = PLANTED[name]
    assert compare(SAME, asked) == [line]


def test_a_later_run_is_announced_and_with_other_seeds() -> None:
    twice = replace(SAME, records=[RECORD, {**RECORD, "steps": "3 abc"}])
    assert compare(SAME, replace(twice, stderr="train.py runs again: other seeds")) == []
    assert compare(SAME, twice) == ["ran 2 times without a word"]


def test_what_ran_uncompiled_is_compared_with_the_same_only_where_it_says_so() -> None:
    assert peer_of(SAME) == PLAIN
    assert peer_of(replace(SAME, stderr=f"train.py:3: {OTHERWISE['uncompiled']}\n")) == UNCOMPILED


def test_an_error_that_nobody_mentions_is_found() -> None:
    plain = changed(raised="ValueError", reached=False)
    asked = changed(reached=False)
    assert compare(plain, asked) == ["does not mention that the script raised ValueError"]
    assert compare(plain, replace(asked, stderr="ValueError: no")) == []


def test_recording_moves_no_line() -> None:
    for script in spread(scripts(), 60):
        text = script.path.read_text("utf-8")
        before, after = ast.parse(text), ast.parse(recorded(text))
        calls = [s for s in after.body if isinstance(s, ast.Expr) and "transparent_probe" in ast.dump(s)]
        assert len(calls) == 2
        left = [s for s in after.body if s not in calls]
        assert [(ast.dump(s), s.lineno) for s in left] == [(ast.dump(s), s.lineno) for s in before.body]


@pytest.fixture(scope="module")
def runner():
    with Runner() as runner:
        yield runner


def test_a_script_that_differs_is_found(runner, tmp_path) -> None:
    """What a script computes from whether it is watched differs."""
    path = tmp_path / "differs.py"
    path.write_text(
        "import paddle\nfrom gradtool.engine.core import watch\nx = paddle.to_tensor([1.0 if watch.noting else 2.0])\n"
    )
    script = Script("differs.py", "paddle", path)
    found = compare(runner.run(script, PLAIN), runner.run(script, "why"))
    assert len(found) == 1
    assert found[0].startswith("x is ")


@pytest.mark.parametrize("place", range(SAMPLE))
def test_a_sample_of_paddle_scripts_is_the_same(runner, place) -> None:
    script = spread(scripts(["paddle"]), SAMPLE)[place]
    plain = runner.run(script, PLAIN)
    assert plain.records
    differences = {question: compare(plain, runner.run(script, question)) for question in QUESTIONS}
    assert differences == {question: [] for question in QUESTIONS}
