"""Amounts of memory, as people write and read them."""

from __future__ import annotations

import re

import click

_UNITS = ("", "K", "M", "G", "T")


def byte_size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """The number that ``4096``, ``512K`` or ``1.5G`` stands for; callback of an option.

    K, M, G and T are powers of 1024; ``B`` and ``iB`` may follow.
    """
    if value is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", value.strip(), re.IGNORECASE)
    if match is None:
        raise click.BadParameter(f"{value!r} is no number of bytes: expected 4096, 512K, 1.5G or the like")
    return int(float(match[1]) * 1024 ** _UNITS.index(match[2].upper()))
