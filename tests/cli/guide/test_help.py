"""What somebody gets who comes with a symptom: the short guide, and a search of the cookbook's questions."""

from __future__ import annotations

import json

import jsonschema
import pytest

from gradtool.cli import commands
from gradtool.cli.guide import cookbook
from tests.cli.conftest import Run
from tests.docs import symptoms
from tests.house.test_schemas import schema


def test_what_ships_is_the_front_matter_of_the_cookbook() -> None:
    """Else ``python -m tests.docs.symptoms`` writes it anew."""
    assert symptoms.SHIPPED.read_text(encoding="utf-8") == symptoms.text()
    assert {question.page for question in cookbook.every()} == {
        page.stem for page in symptoms.COOKBOOK.glob("*.md") if page.stem != "README"
    }


def test_every_command_of_the_index_is_one() -> None:
    for question in cookbook.every():
        program, name, *_ = question.command.split()
        assert (program, name in commands.names()) == ("gradtool", True)


def test_gradtool_alone_is_a_guide_that_fits_a_terminal(gradtool: Run) -> None:
    alone = gradtool()
    assert alone.code == 0
    assert alone.err == ""
    assert "A gradient is None" in alone.out
    assert len(alone.out.splitlines()) <= 24
    assert gradtool("explain").out == alone.out
    for question in cookbook.first():
        assert question.title in alone.out
        assert question.command in alone.out


@pytest.mark.parametrize("question", cookbook.every(), ids=lambda question: question.page)
def test_symptoms_lead_to_their_question(question: cookbook.CookbookPage) -> None:
    for symptom in (question.title, *question.symptoms):
        assert question in cookbook.search(symptom)[:2], symptom


@pytest.mark.parametrize(
    ("typed", "page"),
    [
        ("my gradients are exploding", "vanishing_and_exploding"),
        ("the loss is nan", "nan"),
        ("grad None", "gradient_is_none"),
        ("second backward", "second_backward"),
        ("inplace", "in_place_edit"),
        ("gradcheck", "custom_backward_wrong"),
        ("which layer is slow", "time_per_layer"),
    ],
)
def test_words_as_people_type_them(typed: str, page: str, gradtool: Run) -> None:
    done = gradtool("explain", *typed.split(), "--format", "tsv")
    assert [row[2] for row in done.cells][1] == page


def test_a_search_for_a_command_names_its_help(gradtool: Run) -> None:
    assert "next: gradtool stats --help · " in gradtool("explain", "stats").out


def test_nothing_that_fits_is_said(gradtool: Run) -> None:
    done = gradtool("explain", "zzyzx")
    assert done.code == 0
    assert done.out.startswith("Nothing in the cookbook is called anything like 'zzyzx'.\n")


@pytest.mark.parametrize("words", [[], ["loss", "nan"], ["zzyzx"]])
def test_help_as_json(words: list[str], gradtool: Run) -> None:
    data = json.loads(gradtool("explain", *words, "--format", "json").out)
    jsonschema.validate(data, schema("help"))
    assert data["asked"] == " ".join(words)


@pytest.mark.parametrize(
    ("word", "kind"),
    [("GT-E205", "explain"), ("e205", "explain"), ("GT103", "rule"), ("detached", "rule"), ("tanh_grad", "op")],
)
def test_one_word_is_a_code_a_rule_or_an_operator(word: str, kind: str, gradtool: Run) -> None:
    data = json.loads(gradtool("explain", word, "--format", "json").out)
    assert data["schema"].split("/")[1] == kind
    jsonschema.validate(data, schema(kind))


def test_a_mistyped_operator_has_near_names(gradtool: Run) -> None:
    done = gradtool("explain", "reluu")
    assert done.code == 0
    assert "Operators and rules with similar names: relu" in done.out
    assert "next: gradtool explain relu" in done.out
