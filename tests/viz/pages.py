"""What a page embeds, as the page's own script reads it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

DECODER = Path(__file__).parent / "page" / "decoded.mjs"
_DATA = re.compile(r'<script type="application/json" id="graph">(.*?)</script>', re.DOTALL)


def node() -> str:
    """The path of node.

    Raises:
        RuntimeError: there is none; says what to install.
    """
    found = shutil.which("node")
    if found is None:
        raise RuntimeError("the page's script is tested by node, which is missing: install the system package 'nodejs'")
    return found


def decoded(data: str) -> Any:
    """Nodes, boxes and edges in a block of data."""
    done = subprocess.run([node(), str(DECODER)], input=data, capture_output=True, encoding="utf-8", check=True)
    return json.loads(done.stdout)


def names(page: str) -> set[str]:
    """The names of all nodes of a page."""
    found = _DATA.search(page)
    assert found is not None
    return {n["name"] for n in decoded(found[1])["nodes"]}
