"""Policy of what a page may load: only the texts that it contains, known by their digests."""

from __future__ import annotations

import base64
import hashlib


def digest(text: str) -> str:
    """The digest of a script or style as a content security policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
