"""Where backends that compile keep their code: a folder of each in the user's cache folder."""

from __future__ import annotations

import os
from pathlib import Path


def folder() -> Path:
    """That of all of them, beside what other programs keep for this user."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "gradtool"
