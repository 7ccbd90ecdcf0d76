"""Verbs that move the cursor."""

from __future__ import annotations

from .. import show
from ..errors import VerbError
from ..halt import Halt
from ..notebook import Notebook
from . import Reply, count, refuse_words, verb


def _reply_after_move(book: Notebook, halt: Halt) -> Reply:
    text = show.show_halt(book.session, halt)
    again = book.session.branch.recomputed - book.recomputed_before
    if again:
        text += f"\n    {again} operator{'s' * (again != 1)} computed again"
    return Reply(text, failed=halt.why in ("catch", "error"))


@verb("step [n]", "s", group="moving", examples=("step", "step 5"), then="list p back")
def step(book: Notebook, rest: str) -> Reply:
    """Run the next operator, or the next n."""
    return _reply_after_move(book, book.session.step(count(rest, "step [n]")))


@verb("next [n]", "n", group="moving", examples=("next", "next 2"), then="list src until")
def next_layer(book: Notebook, rest: str) -> Reply:
    """Run to the next layer; outside of layers, to the next line."""
    return _reply_after_move(book, book.session.next_layer(count(rest, "next [n]")))


@verb(
    "until OP|VAR|FILE:LINE",
    "u",
    group="moving",
    examples=("until relu_grad.0", "until model.py:9"),
    then="list goto continue",
    completes="op",
)
def until(book: Notebook, rest: str) -> Reply:
    """Run until an operator is the next one: that one, the one that makes VAR, or one of that line.

    Breakpoints, catches and watches stop it on the way.
    """
    if not rest:
        raise VerbError("until what?", hint="until OP · until model.py:7")
    return _reply_after_move(book, book.session.run_until(book.session.entry(rest)))


@verb("finish", "fin", group="moving", examples=("finish",), then="stats compare goto")
def finish(book: Notebook, rest: str) -> Reply:
    """Run to the end, past all breakpoints, catches and watches."""
    refuse_words(rest, "finish")
    return _reply_after_move(book, book.session.finish())


@verb("continue", "c", group="moving", examples=("continue",), then="list why back")
def resume(book: Notebook, rest: str) -> Reply:
    """Run until a breakpoint, a catch or a watch stops it, or to the end."""
    refuse_words(rest, "continue")
    return _reply_after_move(book, book.session.resume())


@verb("back [n]", "rs", group="moving", examples=("back", "back 3"), then="list p step")
def back(book: Notebook, rest: str) -> Reply:
    """Go back one operator, or n."""
    return _reply_after_move(book, book.session.back(count(rest, "back [n]")))


@verb("rnext [n]", "rn", group="moving", examples=("rnext",), then="list src next")
def previous_layer(book: Notebook, rest: str) -> Reply:
    """Go back to the layer before; outside of layers, to the line before."""
    return _reply_after_move(book, book.session.previous_layer(count(rest, "rnext [n]")))


@verb("rcontinue", "rc", group="moving", examples=("rcontinue",), then="list why continue")
def back_to_stop(book: Notebook, rest: str) -> Reply:
    """Go back until something stops it, or to the start."""
    refuse_words(rest, "rcontinue")
    return _reply_after_move(book, book.session.back_to_stop())


@verb(
    "goto OP|VAR|FILE:LINE|%k|In[k]",
    group="moving",
    examples=("goto relu_grad.0", "goto model.py:9", "goto h@GRAD", "goto %3", "goto In[1]"),
    then="list src p",
    completes="op",
)
def goto(book: Notebook, rest: str) -> Reply:
    """Go to an operator, forwards or backwards: it is the next one then. In[k]: to where cell k was typed.

    OP is the name of an operator (relu_grad.0) or a type (relu_grad), VAR a tensor, which means the operator that makes
    it; %7 is the seventh of the run. Of several, it is the next one from the cursor on, else the last one.
    """
    if not rest:
        raise VerbError("goto where?", hint="goto OP · goto VAR@GRAD · goto model.py:7 · goto %7 · goto In[3]")
    if rest.startswith("In[") and rest.endswith("]"):
        branch, index = book.place_of(rest[3:-1])
        book.session.switch(branch)
        return _reply_after_move(book, book.session.goto(index))
    return _reply_after_move(book, book.session.goto(book.session.entry(rest).index))
