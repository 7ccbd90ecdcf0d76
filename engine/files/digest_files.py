"""Files that say themselves whether they are whole: their first line is the digest of what follows.

For what can be made again: a file that was cut short, or written by something else, is none. With a key, it is none
either that somebody has written who does not have the key.
"""

from __future__ import annotations

import hashlib
import hmac
import os

from . import file_trust


def seal(content: bytes, key: bytes = b"") -> bytes:
    """Return the bytes of such a file.

    Args:
        key: who has it can write such files; empty for everybody.

    >>> seal(b"content").partition(b"\\n")[2]
    b'content'
    """
    return _digest(content, key) + b"\n" + content


def read(path: str | os.PathLike[str], key: bytes = b"") -> bytes | None:
    """Return what was sealed in a file; None where there is nothing, nothing whole, or no regular file.

    Args:
        key: as it was sealed with; the file has to be the user's own then.
    """
    data = file_trust.read(path, own=bool(key))
    if data is None:
        return None
    digest, _, content = data.partition(b"\n")
    return content if hmac.compare_digest(digest, _digest(content, key)) else None


def _digest(content: bytes, key: bytes) -> bytes:
    if key:
        return hmac.new(key, content, hashlib.sha256).hexdigest().encode()
    return hashlib.sha256(content).hexdigest().encode()
