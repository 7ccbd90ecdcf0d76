"""The backward pass that ``--backward`` names, for questions that listen to a file while it runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..answers import backend_replay
from ..answers.backend_replay import Telling
from ..answers.events import Listener
from ..answers.one_pass import OnePass
from ..core import state
from ..request.limits import EACH
from ..request.request import Request
from .calls import list_calls


def number_of(request: Request) -> int | None:
    """The number of the pass that a request names, counted over the whole file; None where it names none.

    The last one of a line is known when the file is over: it runs once to count.

    Raises:
        CommandError: there is no call on that line.
    """
    which = request.backward
    if which is None or which == EACH:
        return None
    return int(which) if which.isdecimal() else list_calls(request).asked


@contextlib.contextmanager
def listen(listener: Listener, number: int | None) -> Iterator[Telling]:
    """Tell *listener* what is computed inside, of all passes or of the one of that *number*."""
    if number is None:
        with backend_replay.hear(listener) as telling:
            yield telling
        return
    one = OnePass(listener, number)
    with backend_replay.hear(one) as telling, state.passes.listen(telling.defer(one.began)):
        yield telling
