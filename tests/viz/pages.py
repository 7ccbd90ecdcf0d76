"""What a page embeds, as the page's own script reads it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from tests.programs import system_program

DECODER = Path(__file__).parent / "page" / "decoded.mjs"
_DATA = re.compile(r'<script type="application/json" id="graph">(.*?)</script>', re.DOTALL)


def decoded(data: str) -> Any:
    """Nodes, boxes and edges in a block of data."""
    done = subprocess.run(
        [system_program("node"), str(DECODER)], input=data, capture_output=True, encoding="utf-8", check=True
    )
    return json.loads(done.stdout)


def names(page: str) -> set[str]:
    """The names of all nodes of a page."""
    match = _DATA.search(page)
    assert match is not None
    return {n["name"] for n in decoded(match[1])["nodes"]}
