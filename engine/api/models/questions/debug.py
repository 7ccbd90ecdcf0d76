"""``debug``: which backward pass is recorded for the debugger, and where it stops."""

from __future__ import annotations

from dataclasses import dataclass

from ..wording import repeated
from .cuts import Cuts


@dataclass(frozen=True, kw_only=True)
class Debug(Cuts):
    """What is recorded.

    Attributes:
        feed: a file of arrays to feed.
        history: bytes of values to hold.
        step: which backward pass of a file that trains.
        catch, break_, watch: where to stop, as the verbs of the debugger say it.
    """

    feed: str | None = None
    history: int | None = None
    step: int | None = None
    catch: tuple[str, ...] = ()
    break_: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()

    @property
    def session_words(self) -> list[str]:
        """The words that open the same session again."""
        words = [*repeated("--params", self.params), *repeated("--no-grad", self.no_grad)]
        words += [*repeated("--catch", self.catch), *repeated("--break", self.break_), *repeated("--watch", self.watch)]
        for option, value in (("--feed", self.feed), ("--step", self.step), ("--history", self.history)):
            words += [] if value is None else [option, str(value)]
        return words
