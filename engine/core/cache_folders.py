"""Folders for what can be made again at any time: byte code, and what packages have compiled.

Here, and not among the files of a run, since a command knows them before it has loaded anything that runs.
"""

from __future__ import annotations

import os

_CACHES = frozenset({"__pycache__", ".cache", "Caches"})

_CACHES_OF_USERS = ("torchinductor_",)
"""How folders for such things begin that packages make where temporary files go, one for each user."""


def is_in_cache(path: str) -> bool:
    """Return whether a path leads into a folder for what can be made again at any time.

    >>> is_in_cache("/tmp/torchinductor_ann/triton"), is_in_cache("/home/ann/best.pt")
    (True, False)
    """
    return any(part in _CACHES or part.startswith(_CACHES_OF_USERS) for part in path.split(os.sep))
