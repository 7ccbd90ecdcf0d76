"""View of what is kept on disk for the next process."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.wording import NOTHING, count, size
from gradtool.engine.files import user_cache
from gradtool.engine.kernels.choice import available

from .view import Table, View


def view(clear: bool) -> View:
    """Show what is kept in the user's cache folder, by purpose; with *clear* what was deleted there."""
    purposes = sorted([*available(), user_cache.NAMES])
    listed = user_cache.clear(purposes) if clear else user_cache.list_stored(purposes)
    table = Table(["kept for", "deleted" if clear else "files", "size", "folder"])
    table.rows += [[s.name, str(s.files), size(s.size), str(s.folder)] for s in listed]
    files = sum(s.files for s in listed)
    total = f"{count(files, 'file')}, {size(sum(s.size for s in listed))}" if files else NOTHING
    last = f"{'deleted' if clear else 'kept'}: {total}"
    data: dict[str, Any] = {
        "folder": None if (home := user_cache.folder()) is None else str(home),
        "cleared": clear,
        "kept": [{"for": s.name, "folder": str(s.folder), "files": s.files, "bytes": s.size} for s in listed],
    }
    next_ = "gradtool self cache clear" if files and not clear else "gradtool self version"
    return View("cache", data, [table, last] if listed else [last], [next_])
