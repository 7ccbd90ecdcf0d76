"""View of advice for a symptom: the first words, and what a search has matched."""

from __future__ import annotations

from collections.abc import Sequence

from .view import Table, View

Row = tuple[str, str, Sequence[str], str]
"""A question of the cookbook: its page, its title, its symptoms, the command that answers it.

Of an error message the framework stands in place of the page.
"""


def first_words(questions: Sequence[Row]) -> View:
    """The short guide: a symptom, a command."""
    headings = ["what you see", "what to type"]
    table = Table(headings, [[title, command] for _, title, _, command in questions], order=("what you see…",))
    table.rows.append(["Something is wrong, but what", "gradtool train.py"])
    blocks: list[str | Table] = [
        "gradtool explains the backward (gradient) graph of a model: a Python file,",
        "a notebook or a module, as it stands.",
        "",
        table,
        "",
        "No model at hand? gradtool self samples copy missing_gradient .",
    ]
    return View(
        "help", _data([], questions), blocks, ["gradtool explain SYMPTOM", "gradtool self samples", "gradtool --help"]
    )


def matches(words: Sequence[str], questions: Sequence[Row], commands: Sequence[str], close: Sequence[str] = ()) -> View:
    """Return the entries that fit the words of a search, best first.

    Args:
        commands: names of commands among the words.
        close: names of operators and rules that look like the words, where nothing fits.
    """
    blocks: list[str | Table] = []
    for _, title, symptoms, command in questions:
        blocks += [f"{title}\n    {command}\n    {' · '.join(symptoms[:2])}", ""]
    if not questions:
        blocks += [f"Nothing in the cookbook is called anything like {' '.join(words)!r}.", ""]
        blocks += [f"Operators and rules with similar names: {', '.join(close)}", ""] if close else []
    table = Table(["title", "command", "page"], [[title, command, page] for page, title, _, command in questions])
    next_ = [
        *(f"gradtool {command} --help" for command in commands),
        *(f"gradtool explain {name}" for name in close[:1]),
    ]
    return View("help", _data(words, questions), blocks, [*next_, "gradtool explain", "gradtool --help"], table)


def _data(words: Sequence[str], questions: Sequence[Row]) -> dict[str, object]:
    rows = [
        {"page": page, "title": title, "symptoms": [*symptoms], "command": command}
        for page, title, symptoms, command in questions
    ]
    return {"asked": " ".join(words), "questions": rows}
