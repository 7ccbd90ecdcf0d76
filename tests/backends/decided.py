"""Where a backend gives something else than NumPy on purpose."""

from __future__ import annotations

import re

from tests.differential.comparing import Difference

DECIDED: tuple[tuple[str, str, str, str], ...] = ()
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
