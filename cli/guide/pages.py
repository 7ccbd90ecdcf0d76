"""The pages about errors: a file each in ``errors/``, called by its code; ``gradtool explain`` shows them."""

from __future__ import annotations

import os

from gradtool.engine.core.records import dataclass

FOLDER = os.path.join(os.path.dirname(__file__), "errors")

ENDING = ".md"

SECTIONS = ("What it means", "Why", "What to do", "Example")
"""The headings of every page, in this order."""


@dataclass(frozen=True)
class ErrorPage:
    """Page about one kind of error.

    Attributes:
        code: ``GT-E205``; once published it is never given to something else.
        title: the kind of error in a few words.
        sections: heading -> text in Markdown.
    """

    code: str
    title: str
    sections: dict[str, str]


def codes() -> list[str]:
    """The codes of all pages, in order."""
    return sorted(file.removesuffix(ENDING) for file in os.listdir(FOLDER) if file.endswith(ENDING))


def page(code: str) -> ErrorPage:
    """The page of *code*, which is one of :func:`codes`."""
    with open(os.path.join(FOLDER, code + ENDING), encoding="utf-8") as file:
        first, *parts = file.read().split("\n## ")
    title = first.removeprefix("# ").partition(": ")[2].strip()
    return ErrorPage(code, title, {head: text.strip() for head, _, text in (part.partition("\n") for part in parts)})
