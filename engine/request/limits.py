"""Length of the watch on a script, and the part of it that is queried; apart, so that parsing options loads
nothing else.
"""

ENOUGH = 50
"""Backward passes that a script makes in any case before it is stopped, if nobody says how many."""

PATIENCE = 60.0
"""Seconds that it is watched for then: most scripts end before, and no answer about them is incomplete."""

ALL = 1 << 62
"""More backward passes than there can be."""

GRAPHS = 3
"""Steps whose graphs must stay alive before anything is said of them."""

EACH = "each"
"""What ``--backward`` says for every distinct backward pass."""


def which_pass(value: int | str | None) -> str | None:
    """Return the pass in ``--backward``, if it can be meant; whether there is such a pass is not checked.

    Raises:
        ValueError: it cannot.
    """
    text = value if value is None else str(value)
    if text is None or text == EACH or (text.isdecimal() and int(text)):
        return text
    if text.startswith("line:") and text.rpartition(":")[2].isdecimal():
        return text
    raise ValueError(f"{value!r} is neither the number of a backward pass, from 1, nor line:FILE:LINE, nor {EACH}")


def passes_watched(value: int | str | None) -> int | None:
    """Return the number of backward passes in ``--steps``; None where it is not given.

    Raises:
        ValueError: it is no number of passes.
    """
    text = value if value is None else str(value)
    if text is None or text == "all":
        return None if text is None else ALL
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise ValueError(f"{value!r} is neither a number of backward passes from 1 nor 'all'")
    return number


ENGINES = ("gradtool", "paddle")
"""What ``--engine`` may be."""

LOSS_FUNCTIONS = ("mse", "cross_entropy")
"""What ``--loss-fn`` may be."""

LOADING = (
    "loss",
    "loss_fn",
    "label",
    "arg",
    "seed",
    "mode",
    "engine",
    "stdin_filename",
    "script",
    "as_module",
    "backward",
    "limit",
    "write",
    "steps",
)
"""The options that say how a model is loaded: options of ``gradtool.engine.request.request.Request``."""
