"""Folders in which installers put wheels that bring a library and no Python, found by the version next to packages.

Not by ``importlib.metadata``, which takes longer to import than such a library, or a check that has nothing to do.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

ENDING = ".dist-info"
"""What the name of the folder ends with."""


def folders(beginning: str | tuple[str, ...]) -> Iterator[str]:
    """Those folders whose names begin so, in the order in which Python looks for packages."""
    for path in dict.fromkeys(sys.path):
        try:
            names = os.listdir(path or os.curdir)
        except OSError:
            continue  # an archive, or nothing
        for name in sorted(names):
            if name.startswith(beginning) and name.endswith(ENDING):
                yield os.path.join(path, name)
