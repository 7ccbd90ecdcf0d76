"""What axe-core, a checker of accessibility, finds wrong with a page in the browser."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

from tests.viz.chromium import Page

ASKED = """
axe.run(document, {resultTypes: ["violations"]}).then((told) => JSON.stringify(
  told.violations.map((rule) => `${rule.id}: ${rule.nodes.map((node) => node.html.slice(0, 120)).join(", ")}`)))
"""


def script() -> str:
    """The checker, as its package brings it; the module beside it is for other drivers of browsers."""
    spec = find_spec("axe_core_python")
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """The rules that the page breaks, each with the elements that do."""
    page.run(f"{script()}; 0")
    told: list[str] = json.loads(page.run(ASKED))
    return told
