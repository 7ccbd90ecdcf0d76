"""The rules: a file each, with a rule called ``RULE``.

A new rule is a new file here: a code that no rule has had, a name, what it finds, why that matters, a look at the
evidence, a wrong and a right model. Tests run both models, and ``gradtool explain CODE`` shows them.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable
from functools import cache

from ..rule import Rule

_FOLDER = os.path.dirname(__file__)


_recalled: dict[str, Rule] = {}
"""The rules as a cache has them: all that can be said of them, without what they look with."""


def every() -> dict[str, Rule]:
    """The rules by code, in the order of their codes."""
    return _recalled or really()


def recall(table: Iterable[Rule]) -> None:
    """Have *table* stand for the rules until they are loaded: naming them needs no engine."""
    _recalled.update({rule.code: rule for rule in table})
    _match.cache_clear()


def are_loaded() -> bool:
    """Return whether the rules themselves are loaded."""
    return really.cache_info().currsize > 0


@cache
def really() -> dict[str, Rule]:
    """The rules themselves."""
    _recalled.clear()
    _match.cache_clear()
    files = sorted(f.removesuffix(".py") for f in os.listdir(_FOLDER) if f.endswith(".py") and f[0] != "_")
    rules = [importlib.import_module(f".{name}", __name__).RULE for name in files]
    return {rule.code: rule for rule in sorted(rules, key=lambda rule: rule.code)}


def find_matches(selector: str) -> list[Rule]:
    """The rules that a selector stands for: a code, the beginning of codes (``GT1``), a name, or ``ALL``."""
    return list(_match(selector))


@cache
def _match(selector: str) -> tuple[Rule, ...]:
    """The same, looked for once: a repository asks for each model and each finding."""
    rules, beginning = every().values(), selector.upper()
    return tuple(r for r in rules if beginning == "ALL" or r.code.startswith(beginning) or r.name == selector)
