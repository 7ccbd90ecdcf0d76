"""No question that computes a pass again is wrong about what cannot be repeated."""

import ast

import pytest

from gradtool.engine.loading.loader import Request

from . import CASES, QUESTIONS, RUNS, text


@pytest.mark.sampled(5)
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", CASES)
def test_a_question_answers_rightly_or_names_what_cannot_be_repeated(name, question, tmp_path):
    model = RUNS / f"{name}.torchrun"
    if name.startswith("paddle_"):
        model = tmp_path / f"{name}.py"
        model.write_text(text(name), encoding="utf-8")
    QUESTIONS[question](Request(str(model)))


def test_each_recorded_run_is_that_of_a_program():
    assert {run.stem for run in RUNS.glob("*.torchrun")} == {n for n in CASES if n.startswith("torch_")}


@pytest.mark.parametrize("name", CASES)
def test_a_program_is_read(name):
    ast.parse(text(name))


NAMED = {
    ("paddle_rnn_dropout", "gradcheck"): "cannot be repeated: rnn at ",
    ("paddle_rnn_dropout", "flow"): "cannot be repeated: rnn at ",
    ("paddle_rnn_dropout", "one batch"): "cannot be repeated: rnn at ",
    ("paddle_pylayer_in_numpy", "gradcheck"): "cannot be repeated: PyLayer_Counting at ",
    ("torch_own_operator", "gradcheck"): "cannot be repeated: ",
    ("torch_table_in_numpy", "flow"): "cannot be repeated: index at ",
}
"""What is named, by program and question."""


@pytest.mark.parametrize(("name", "question"), NAMED)
def test_what_cannot_be_repeated_is_named_with_its_line(name, question, tmp_path):
    model = RUNS / f"{name}.torchrun"
    if name.startswith("paddle_"):
        model = tmp_path / f"{name}.py"
        model.write_text(text(name), encoding="utf-8")
    said = QUESTIONS[question](Request(str(model)))
    assert any(line.startswith(NAMED[name, question]) for line in said), said
