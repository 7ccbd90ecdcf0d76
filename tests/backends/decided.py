"""Where a backend gives something else than NumPy on purpose."""

from __future__ import annotations

import re

from tests.differential.comparing import Difference

DECIDED: tuple[tuple[str, str, str, str], ...] = (
    (
        "jax",
        r"\b(nan|inf)\b|1e-30|10000",
        r"(values|grads) (not finite|finite|nan or infinity)",
        "XLA chooses where NumPy multiplies NaN or infinity by 0, and sums them in another order",
    ),
    (
        "jax",
        r"\bnan\b.*(<=|>=|<|>)",
        r"values value",
        "XLA takes the square of a number for not negative, NaN or not",
    ),
    (
        "jax",
        r"\b(nan|inf)\b.*int(8|16|32|64)",
        r"values value",
        "which whole numbers NaN and infinity become is nobody's decision; XLA says 0, or the largest",
    ),
    (
        "jax",
        r"\[1, 1, 1\].*layer_norm",
        r"grads value",
        "the deviation of one number has no slope: what is left of terms that cancel is rounding",
    ),
    (
        "jax",
        r'"bool".* / ',
        r"values value",
        "a quotient of truth values is one, and 0 by 0 has none: whether NaN is true is nobody's decision",
    ),
)
"""Backend, program and kind of the difference, each by a pattern, and the reason."""


def reason_of(backend: str, text: str, gap: Difference) -> str:
    """Why a backend may differ so; empty where nobody has said."""
    return next(
        (
            reason
            for name, program, kind, reason in DECIDED
            if re.fullmatch(name, backend) and re.search(program, text, re.DOTALL) and re.match(kind, gap.kind)
        ),
        "",
    )
