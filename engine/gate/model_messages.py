"""Messages of a model on standard error, printed as they come and kept."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ..script import streams

LONGEST: Final = 1 << 20
"""Bytes of what a model printed that are told."""


def tail(text: str, more: int = 0) -> str:
    """Return what a model printed; of much, the end.

    Args:
        text: at least the last :data:`LONGEST` of it.
        more: how much there was before.
    """
    more += max(len(text) - LONGEST, 0)
    return text if not more else f"… {more} bytes before\n{text[-LONGEST:]}"


class Printed:
    """A stream that keeps what goes through it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._texts: list[str] = []
        self._decoded = codecs.getincrementaldecoder("utf-8")("replace")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Pass *text* on."""
        self._texts.append(text)
        written: int = self._stream.write(text)
        return written

    def hear(self, data: bytes) -> None:
        """Keep what a script has written by a stream of its own."""
        self._texts.append(self._decoded.decode(data))

    def writelines(self, texts: Any) -> None:
        """Pass each of *texts* on."""
        for text in texts:
            self.write(text)

    @property
    def text(self) -> str:
        """Text that has gone through it."""
        return tail("".join(self._texts))


@contextmanager
def keep_output() -> Iterator[Printed]:
    """Inside, what is printed on standard error is kept as well."""
    stream = sys.stderr
    sys.stderr = kept = Printed(stream)
    streams.hearers.append(kept.hear)
    try:
        yield kept
    finally:
        streams.hearers.remove(kept.hear)
        sys.stderr = stream
