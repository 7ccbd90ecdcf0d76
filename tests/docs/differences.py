"""Writes the list of ``docs/differences.md`` anew from its table: ``python -m tests.docs.differences``."""

from __future__ import annotations

from pathlib import Path

from gradtool.engine.core.differences import markdown_list

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"
BEGINS = "<!-- the table of engine/core/differences.py: python -m tests.docs.differences -->\n"
ENDS = "<!-- end -->\n"


def written(page: str) -> str:
    """The page with the list that the table gives."""
    before, _, rest = page.partition(BEGINS)
    _, _, after = rest.partition(ENDS)
    return f"{before}{BEGINS}{markdown_list()}{ENDS}{after}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
