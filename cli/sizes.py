"""Amounts of memory, as people write and read them."""

from __future__ import annotations

import re

import click

_UNITS = ("", "K", "M", "G", "T")


class ByteSize(click.ParamType):
    """``4096``, ``512K``, ``1.5G``: K, M, G and T are powers of 1024; ``B`` and ``iB`` may follow."""

    name = "BYTES"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", value.strip(), re.IGNORECASE)
        if found is None:
            self.fail(f"{value!r} is no number of bytes: expected 4096, 512K, 1.5G or the like", param, ctx)
        return int(float(found[1]) * 1024 ** _UNITS.index(found[2].upper()))


def size(nbytes: int) -> str:
    """``1.5 MiB``."""
    amount = float(nbytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{nbytes} B" if unit == "B" else f"{amount:.3g} {unit}"
        amount /= 1024
    return f"{amount:.3g} TiB"
