"""What ``python -m tests.bench step`` has found: as a table, as ratios with their spread, as JSON, and from JSON."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

HEADINGS = {
    "products": "products alone",
    "numpy": "NumPy",
    "numba": "Numba",
    "static": "static",
    "static-watched": "static, watched",
    "dynamic": "dynamic",
    "torch": "PyTorch",
    "paddle-static": "Paddle, static",
    "paddle": "Paddle, dynamic",
    "jax": "on JAX",
    "copied": "JAX, copied",
    "watched": "JAX, watched",
    "jax.jit": "jax.jit",
}
"""The columns in their order."""

RATIOS = (
    ("static", "products"),
    ("static", "torch"),
    ("static", "paddle-static"),
    ("static-watched", "static"),
    ("dynamic", "torch"),
    ("dynamic", "paddle"),
    ("static", "jax.jit"),
    ("jax", "jax.jit"),
    ("watched", "jax"),
)
"""What is compared with what."""

Rounds = dict[str, list[float]]
"""By column, milliseconds of the best run of each round."""


def columns(models: dict[str, Rounds]) -> list[str]:
    """The columns that any of the models has, in their order."""
    return [c for c in HEADINGS if any(c in rounds for rounds in models.values())]


def times(models: dict[str, Rounds]) -> Iterator[list[str]]:
    """The rows of best times, headings first."""
    shown = columns(models)
    yield ["ms", *(HEADINGS[c] for c in shown)]
    for name, rounds in models.items():
        yield [name, *(_time(min(rounds[c])) if rounds.get(c) else "" for c in shown)]


def ratios(models: dict[str, Rounds]) -> Iterator[list[str]]:
    """The rows of ratios, headings first: the median over the rounds, and from the least to the largest of them."""
    shown = [(a, b) for a, b in RATIOS if any(a in r and b in r for r in models.values())]
    yield ["ratio", *(f"{HEADINGS[a]} / {HEADINGS[b]}" for a, b in shown)]
    for name, rounds in models.items():
        yield [name, *(_ratio(rounds.get(a, []), rounds.get(b, [])) for a, b in shown)]


def _time(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _ratio(ours: Sequence[float], theirs: Sequence[float]) -> str:
    each = [a / b for a, b in zip(ours, theirs, strict=True)] if ours and theirs else []
    return f"{statistics.median(each):.2f} ({min(each):.2f}–{max(each):.2f})" if each else ""


def text(rows: Iterator[list[str]]) -> str:
    """The rows in columns of one width each."""
    every = list(rows)
    widths = [max(len(row[i]) for row in every) for i in range(len(every[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in every
    )


def markdown(results: dict[str, Any]) -> str:
    """Both tables as Markdown, after a line about the machine."""
    machine, versions = results["machine"], results["versions"]
    told = f"{machine['threads']} threads, {machine['blas']}, " + ", ".join(f"{k} {v}" for k, v in versions.items())
    tables = []
    for rows in (times(results["models"]), ratios(results["models"])):
        first, *others = rows
        if len(first) > 1:
            tables.append("\n".join("| " + " | ".join(r) + " |" for r in [first, ["--"] * len(first), *others]))
    return "\n\n".join([told, *tables])
