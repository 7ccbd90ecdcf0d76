"""The names of Paddle's modules, as two versions have them: written in the form that the package reads."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from gradtool.paddle import _recorded

from . import record_modules

FILE = _recorded.FILE

HEAD = """\
# Names of modules of Paddle 3.3.1 and 3.1.1; python -m tests.coverage --record-modules writes this file.
# * ORIGIN NAMES    where names are from that modules import, =MODULE of names that are modules
# MODULE            what follows are its names
#   NAMES           defined in it; after + they are in its __all__
#  < NAMES          imported, from where the name says; <+ in its __all__
#  @ORIGIN NAMES    imported from there, NAME=OTHER where it has another name there
#  =NAME VALUE      a constant
"""

Origin = tuple[str, str]
"""A module and a name in it; of a module itself, an empty name."""


def merged(records: list[dict[str, Any]]) -> dict[str, Any]:
    """One record of several versions, where the last one decides about what several have."""
    whole: dict[str, Any] = {}
    for record in records:
        for module, entry in record.items():
            into = whole.setdefault(module, {"names": {}, "all": []})
            into["names"] |= entry["names"]
            into["all"] = sorted({*into["all"], *entry["all"]})
    return dict(sorted(whole.items()))


def text(record: dict[str, Any]) -> str:
    """The file."""
    imported: dict[str, Counter[Origin]] = defaultdict(Counter)
    homes: dict[str, list[str]] = defaultdict(list)
    for module, entry in record.items():
        for name, fact in entry["names"].items():
            origin = where(module, name, fact)
            if origin == (module, name):
                homes[name].append(module)
            elif origin is not None:
                imported[name][origin] += 1
    usual = {name: min(counts, key=lambda o: (-counts[o], o)) for name, counts in imported.items()}
    lines = [HEAD.rstrip()]
    stated = defaultdict(list)
    for name, origin in usual.items():
        if origin != (homes[name][0] if len(homes[name]) == 1 else "", name):
            stated[origin[0] if origin[1] else f"={origin[0]}"].append(spelled(name, origin))
    for home, names in sorted(stated.items()):
        lines += filled(f"* {home}", names)
    for module, entry in record.items():
        lines += [module, *_of_module(module, entry, usual)]
    return "\n".join(lines) + "\n"


def _of_module(module: str, entry: dict[str, Any], usual: dict[str, Origin]) -> list[str]:
    groups: dict[str, list[str]] = defaultdict(list)
    constants = []
    for name, fact in sorted(entry["names"].items()):
        origin = where(module, name, fact)
        plus = "+" if name in entry["all"] else ""
        if origin is None:
            constants.append(f" ={name} {fact[1]}")
        elif origin == (module, name):
            groups[f" {plus}"].append(name)
        elif origin == usual[name]:
            groups[f" <{plus}"].append(name)
        elif origin != (f"{module}.{name}", ""):  # its own modules are there without being named
            groups[f" @{'' if origin[1] else '='}{origin[0]}"].append(spelled(name, origin))
    return [line for head, names in sorted(groups.items()) for line in filled(head, names)] + constants


def where(module: str, name: str, fact: list[str]) -> Origin | None:
    """Where a name is from; None for a constant."""
    kind, home, own = fact
    if name == "TYPE_CHECKING":
        return "typing", name
    if kind == "literal":
        return None
    if kind == "module":
        return home, ""
    return (home, own) if home else (module, name)


def spelled(name: str, origin: Origin) -> str:
    return name if origin[1] in ("", name) else f"{name}={origin[1]}"


def filled(head: str, names: list[str]) -> list[str]:
    return [f"{head} {line}" for line in textwrap.wrap(" ".join(sorted(names)), 400, break_long_words=False)]


def renew(pythons: list[str]) -> None:
    """Write the file anew, with interpreters that have Paddle, the newest last."""
    script = str(Path(record_modules.__file__))
    classic = {**os.environ, "FLAGS_enable_pir_api": "0"}  # programs of the form that gradtool's have
    records = [
        json.loads(subprocess.run([p, script], check=True, stdout=subprocess.PIPE, env=classic).stdout) for p in pythons
    ]
    FILE.write_text(text(merged(records)), encoding="utf-8")
