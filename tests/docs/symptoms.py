"""What ships of the cookbook: ``python -m tests.docs.symptoms`` writes its questions into the package."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
COOKBOOK = ROOT / "docs" / "cookbook"
SHIPPED = ROOT / "cli" / "guide" / "symptoms.json"


def text() -> str:
    """The questions as JSON, in the order of the cookbook's own table."""
    names = re.findall(r"\]\((\w+)\.md\)", (COOKBOOK / "README.md").read_text(encoding="utf-8"))
    entries = [entry(COOKBOOK / f"{name}.md") for name in dict.fromkeys(names)]
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


def entry(page: Path) -> dict[str, object]:
    """The front matter of a page."""
    front = page.read_text(encoding="utf-8").split("---\n")[1]
    values = dict(re.findall(r"^(title|command): (.*)$", front, re.MULTILINE))
    symptoms = re.findall(r'^  - "(.*)"$', front, re.MULTILINE)
    return {"page": page.stem, "title": values["title"].strip('"'), "symptoms": symptoms, "command": values["command"]}


if __name__ == "__main__":
    SHIPPED.write_text(text(), encoding="utf-8")
