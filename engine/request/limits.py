"""How long a script is watched, and what of it is asked about; apart, so that nothing is loaded to say it."""

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
    """What ``--backward`` says, if it can be meant; it is not looked whether there is such a pass.

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
    """How many backward passes ``--steps`` says; None where it says nothing.

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
