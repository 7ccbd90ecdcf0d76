"""View of a page about an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .view import Table, View


def one(code: str, title: str, sections: Mapping[str, str]) -> View:
    """One error: what it means, why, what to do, an example.

    Args:
        sections: heading -> text in Markdown.
    """
    blocks: list[str | Table] = [f"{code}  {title}"]
    for heading, text in sections.items():
        blocks.append(f"\n{heading}\n{_indent(text)}")
    data = {"code": code, "title": title, "sections": [{"heading": h, "text": t} for h, t in sections.items()]}
    return View("explain", data, [*blocks, ""], ["gradtool explain --codes", "gradtool explain SYMPTOM"])


def every(titles: Sequence[tuple[str, str]]) -> View:
    """All codes as a table.

    Args:
        titles: code and title of each.
    """
    table = Table(["code", "error"], [[code, title] for code, title in titles], order=("code", "error…"))
    data = {"errors": [{"code": code, "title": title} for code, title in titles]}
    return View("errors", data, [table], [f"gradtool explain {titles[0][0]}", "gradtool explain --rules"])


def _indent(text: str) -> str:
    """Markdown as a terminal shows it: blocks of code stand further in, and are not fenced."""
    lines: list[str] = []
    for number, part in enumerate(text.split("```")):
        if number % 2:
            lines += [f"    {line}".rstrip() for line in part.split("\n")[1:-1]]
        else:
            lines += [f"  {' '.join(paragraph.split())}".rstrip() for paragraph in part.strip().split("\n\n")]
    return "\n".join(lines).strip("\n")
