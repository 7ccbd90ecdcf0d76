"""The cookbook's questions by their symptoms, offline: ``symptoms.json`` holds the front matter of ``docs/cookbook``.

``python -m tests.docs.symptoms`` writes it anew.
"""

from __future__ import annotations

import json
import os
import re

from gradtool.engine.core.records import dataclass

FILE = os.path.join(os.path.dirname(__file__), "symptoms.json")

FIRST = (
    *("gradient_is_none", "exactly_zero", "nan", "vanishing_and_exploding", "unused_parameters", "loss_without_grad"),
    *("second_backward", "custom_backward_wrong", "unreadable_pictures", "what_is_saved", "stepping_inside_backward"),
    "two_versions_disagree",
)
"""The pages of the short guide, which fits a terminal of 24 lines and 80 columns."""

MOST = 5
"""Matches that are shown of a search."""

_WORD = re.compile(r"[a-z0-9_]+")
EMPTY = frozenset(
    (
        *(
            "a",
            "an",
            "the",
            "is",
            "are",
            "was",
            "of",
            "in",
            "on",
            "to",
            "and",
            "or",
            "my",
            "i",
            "it",
            "its",
            "for",
            "with",
        ),
        *("do", "does", "did", "not", "why", "what", "which"),
    )
)
"""Words that say nothing of a symptom."""


@dataclass(frozen=True)
class CookbookPage:
    """A page of the cookbook.

    Attributes:
        page: its name, without the ending.
        symptoms: phrases that people search for.
        command: the command that answers it.
    """

    page: str
    title: str
    symptoms: tuple[str, ...]
    command: str


def every() -> list[CookbookPage]:
    """All questions, in the cookbook's order."""
    with open(FILE, encoding="utf-8") as file:
        entries = json.load(file)
    return [CookbookPage(e["page"], e["title"], tuple(e["symptoms"]), e["command"]) for e in entries]


def first() -> list[CookbookPage]:
    """The questions of the short guide."""
    questions = {question.page: question for question in every()}
    return [questions[page] for page in FIRST]


def row(question: CookbookPage) -> tuple[str, str, tuple[str, ...], str]:
    """A question as what it consists of."""
    return question.page, question.title, question.symptoms, question.command


def search(text: str) -> list[CookbookPage]:
    """The questions that fit *text* best, best first; none where no word of it stands anywhere."""
    questions = every()
    phrase = _words(text)
    full = [word for word in phrase if word not in EMPTY] or phrase
    words = [*dict.fromkeys(map(_stem, full))]
    stems = [[{_stem(w) for w in _words(p)} for p in _phrases(q)] for q in questions]
    # A word that stands on every page says little, one that stands on one page nearly all.
    weights = {word: 1 / (1 + sum(any(word in there for there in page) for page in stems)) for word in words}
    scores = []
    for question, page in zip(questions, stems, strict=True):
        shares = [sum(weights[word] for word in words if word in there) for there in page]
        whole = any(" ".join(phrase) in " ".join(_words(p)) for p in _phrases(question))
        scores.append((shares[0] + max(shares[1:]) + whole * bool(phrase), question))
    ranked = sorted((entry for entry in scores if entry[0]), key=lambda entry: -entry[0])
    return [question for score, question in ranked if 3 * score >= ranked[0][0]][:MOST]


def _phrases(question: CookbookPage) -> tuple[str, ...]:
    """Return the places to search: the title, the symptoms, the name of the command."""
    return (question.title, *question.symptoms, question.command.split()[1])


def _stem(word: str) -> str:
    """A word without what English hangs on: gradients, vanished, exploding."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 3:
            return word[: -len(ending)].rstrip("e")
    return word.rstrip("e") if len(word) > 4 else word


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
