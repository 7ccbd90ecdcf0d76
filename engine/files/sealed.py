"""Files that say themselves whether they are whole: their first line is the digest of what follows.

For what can be made again: a file that was cut short, or written by something else, is none.
"""

from __future__ import annotations

import hashlib
import os


def sealed(content: bytes) -> bytes:
    """The bytes of such a file.

    >>> sealed(b"content").partition(b"\\n")[2]
    b'content'
    """
    return _digest(content) + b"\n" + content


def read(path: str | os.PathLike[str]) -> bytes | None:
    """What was sealed in a file; None where there is nothing, or nothing whole."""
    try:
        with open(path, "rb") as file:
            digest, _, content = file.read().partition(b"\n")
    except OSError:
        return None
    return content if digest == _digest(content) else None


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
