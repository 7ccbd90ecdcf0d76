"""What is shown of compiled code on disk."""

from __future__ import annotations

from typing import Any

from gradtool.engine.kernels import disk
from gradtool.models.wording import NOTHING, count, size

from .view import Table, View


def view(clear: bool) -> View:
    """What each backend keeps in the user's cache folder; with *clear* what was deleted there."""
    listed = disk.clear() if clear else disk.stored()
    table = Table(["backend", "deleted" if clear else "files", "size", "folder"])
    table.rows += [[s.name, str(s.files), size(s.size), str(s.folder)] for s in listed]
    files = sum(s.files for s in listed)
    total = f"{count(files, 'file')}, {size(sum(s.size for s in listed))}" if files else NOTHING
    last = f"{'deleted' if clear else 'compiled code'}: {total}"
    data: dict[str, Any] = {
        "folder": str(disk.folder()),
        "cleared": clear,
        "backends": [{"backend": s.name, "folder": str(s.folder), "files": s.files, "bytes": s.size} for s in listed],
    }
    next_ = "gradtool cache clear" if files and not clear else "gradtool doctor"
    return View("cache", data, [table, last] if listed else [last], [next_])
