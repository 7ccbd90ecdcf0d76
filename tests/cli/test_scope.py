"""Answers say how much of a file they have seen, and none says of a part what is known of the whole alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import Run, Write

LOOP = """\
import paddle
paddle.seed(0)
net = paddle.nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
for step in range(12):
    loss = net(paddle.ones([4, 3])).square().mean()
    {}
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
RIGHT = LOOP.format("pass")
BROKEN_LATE = LOOP.format("loss = loss / 0.0 if step == 9 else loss")
RAISES = LOOP.format("assert step < 4")
SHORT = ("--steps", "5")


def answer(gradtool: Run, *words: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(gradtool(*words, "--format", "json").out)
    return data


def first_line(gradtool: Run, *words: str) -> str:
    return gradtool(*words).out.splitlines()[0]


def test_a_headline_names_the_passes(gradtool: Run, model: Write) -> None:
    file = model(RIGHT)
    assert first_line(gradtool, file).endswith("no findings in all 12 passes")
    assert first_line(gradtool, file, *SHORT).endswith("no findings in the first 5 passes; the file would go on")
    assert "looked at      backward pass 5 of at least 6: loss" in gradtool(file, *SHORT).out
    assert gradtool("check", file).out.startswith("No findings in all 12 passes: 1 model, ")
    few = gradtool("check", file, *SHORT, "--ignore", "GT901").out
    assert few.startswith("No findings in the first 5 passes; the file would go on: 1 model, ")


@pytest.mark.parametrize("command", ["nan", "stats", "why"])
def test_of_a_part_no_command_says_that_it_is_clean(gradtool: Run, model: Write, command: str) -> None:
    file = model(BROKEN_LATE)
    said = gradtool(command, file, *SHORT).out
    assert "CLEAN" not in said
    assert "the first 5 passes; the file would go on" in said
    assert gradtool("nan", file).out.startswith("BIRTH")


@pytest.mark.parametrize(
    ("text", "words", "clean"),
    [(RIGHT, (), True), (RIGHT, SHORT, None), (BROKEN_LATE, (), False), (BROKEN_LATE, SHORT, None)],
    ids=["whole", "part", "wrong", "wrong after the part"],
)
def test_clean_is_true_false_or_not_known(
    gradtool: Run, model: Write, text: str, words: tuple[str, ...], clean: bool | None
) -> None:
    file = model(text)
    bare, gate, births = (answer(gradtool, *name, file, *words) for name in ((), ("check",), ("nan",)))
    assert (bare["clean"], gate["clean"], births["clean"]) == (clean, clean, clean)
    [scope] = gate["scopes"]
    assert bare["scope"] == births["scope"] == {k: v for k, v in scope.items() if k != "model"}
    assert (scope["whole"], scope["passes"]) == ((False, 5) if words else (True, 12))


def test_what_ran_before_an_error_is_a_part(gradtool: Run, model: Write) -> None:
    file = model(RAISES)
    assert "no findings in 4 passes before the error" in gradtool(file).out
    assert gradtool("nan", file).out.startswith("PART   no finding in 4 passes before the error")
    assert answer(gradtool, file)["scope"] == {"asked": None, "ended": "raised", "passes": 4, "whole": False}


def test_a_finding_holds_evidence_places_and_its_scope(gradtool: Run, model: Write) -> None:
    file = model(RIGHT.replace("0.01", "0.0"))
    [bare], [gate] = (answer(gradtool, *name, file)["results"] for name in ((), ("check",)))
    del bare["next"]
    assert bare == gate
    assert gate["evidence"] == {"parameters": 2, "pushed": 2, "rate": 0.0, "steps": 12}
    assert [place["what"] for place in gate["places"]] == ["the steps"]
    assert gate["scope"]["passes"] == 12


def test_tables_of_models_hold_for_both_commands(gradtool: Run, model: Write) -> None:
    file = model(RIGHT)
    with open("gradtool.toml", "w", encoding="utf-8") as settings:
        settings.write(f'[[models]]\ntarget = "{file}"\nsteps = 5\n')
    bare, gate = answer(gradtool, file), answer(gradtool, "check", file)
    assert bare["scope"]["passes"] == gate["scopes"][0]["passes"] == 5
    assert answer(gradtool, file, "--steps", "7")["scope"]["passes"] == 7
