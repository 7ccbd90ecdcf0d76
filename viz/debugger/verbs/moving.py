"""Verbs that move the cursor."""

from __future__ import annotations

from .. import show
from ..errors import VerbError
from ..halt import Halt
from ..notebook import Notebook
from . import Reply, count, nothing, verb


def _moved(book: Notebook, halt: Halt) -> Reply:
    text = show.halted(book.session, halt)
    again = book.session.branch.recomputed - book.recomputed_before
    if again:
        text += f"\n    {again} operator{'s' * (again != 1)} computed again"
    return Reply(text, failed=halt.why in ("catch", "error"))


@verb("step [n]", "s", group="moving")
def step(book: Notebook, rest: str) -> Reply:
    """Run the next operator, or the next n."""
    return _moved(book, book.session.step(count(rest, "step [n]")))


@verb("next [n]", "n", group="moving")
def next_layer(book: Notebook, rest: str) -> Reply:
    """Run to the next layer; outside of layers, to the next line."""
    return _moved(book, book.session.next_layer(count(rest, "next [n]")))


@verb("until OP|line", "u", group="moving", completes="op")
def until(book: Notebook, rest: str) -> Reply:
    """Run until that operator, or one of that line, is the next one."""
    if not rest:
        raise VerbError("until what?", hint="until OP · until model.py:7")
    return _moved(book, book.session.until(book.session.entry(rest)))


@verb("finish", "fin", group="moving")
def finish(book: Notebook, rest: str) -> Reply:
    """Run to the end, past all breakpoints, catches and watches."""
    nothing(rest, "finish")
    return _moved(book, book.session.finish())


@verb("continue", "c", group="moving")
def resume(book: Notebook, rest: str) -> Reply:
    """Run until something stops it."""
    nothing(rest, "continue")
    return _moved(book, book.session.resume())


@verb("back [n]", "rs", group="moving")
def back(book: Notebook, rest: str) -> Reply:
    """Go back one operator, or n."""
    return _moved(book, book.session.back(count(rest, "back [n]")))


@verb("rnext [n]", "rn", group="moving")
def previous_layer(book: Notebook, rest: str) -> Reply:
    """Go back to the layer before; outside of layers, to the line before."""
    return _moved(book, book.session.previous_layer(count(rest, "rnext [n]")))


@verb("rcontinue", "rc", group="moving")
def back_to_stop(book: Notebook, rest: str) -> Reply:
    """Go back until something stops it, or to the start."""
    nothing(rest, "rcontinue")
    return _moved(book, book.session.back_to_stop())


@verb("goto OP|%k|In[k]", group="moving", completes="op")
def goto(book: Notebook, rest: str) -> Reply:
    """Have that operator be the next one, forwards or backwards; In[k]: be where cell k was typed."""
    if not rest:
        raise VerbError("goto where?", hint="goto OP · goto %7 · goto In[3]")
    if rest.startswith("In[") and rest.endswith("]"):
        branch, index = book.place_of(rest[3:-1])
        book.session.switch(branch)
        return _moved(book, book.session.goto(index))
    return _moved(book, book.session.goto(book.session.entry(rest).index))
