"""View of the losses of a file that an answer about one of them does not cover."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradtool.engine.core.wording import command_line, count
from gradtool.engine.kinds.about import About
from gradtool.engine.kinds.other_losses import Other


def lines(about: About, command: str) -> list[str]:
    """Return what was not looked at, and what was found where somebody looked; nothing for a file with one loss.

    Args:
        command: that answers about each of them.
    """
    left_out = [f"not looked at: {text}" for text in not_looked_at(about.others, command, about.words)]
    return [*left_out, *(f"looked at as well: {text}" for text in other_passes(about.others, about.words))]


def not_looked_at(passes: Sequence[Other], command: str, words: Sequence[str]) -> Iterator[str]:
    """The losses that nothing is known of, and the command that answers about each of them."""
    for other in passes:
        if other.refused is not None:
            yield f"the gradients of {other.loss}: {other.refused}"
    names = [other.loss for other in passes if other.findings is None and other.refused is None]
    if names:
        each = command_line("gradtool", command, *words, "--backward", "each")
        yield f"the gradients of {', '.join(dict.fromkeys(names))}: {each}"


def other_passes(passes: Sequence[Other], words: Sequence[str]) -> Iterator[str]:
    """Yield what ``why`` found about losses other than the requested one."""
    for other in passes:
        if other.findings is None:
            continue
        more = command_line("gradtool", "why", *words, "--backward", str(other.number))
        found = f"{count(other.findings, 'finding')}: {more}" if other.findings else "no findings"
        yield f"the gradients of {other.loss}: {found}"
