"""Verification after every function that changes a whole program, when ``GRADTOOL_VERIFY=1`` asks for it."""

from __future__ import annotations

import os

from .program import Program


def check_program(program: Program, after: str) -> Program:
    """*program*, verified (``verify.py``) if ``GRADTOOL_VERIFY`` is set to 1.

    Args:
        after: what was done to the program last.
    """
    if os.environ.get("GRADTOOL_VERIFY") == "1":
        from .verify import verify

        verify(program, after)
    return program
