"""Completion at Tab next to commands, options and choices, which click completes itself.

That is files, folders, codes, samples, and names of the parameters and operators of the model on the line. The
model's names are read from a file of the user's cache. A model that is not in it is run once, for one backward pass
and two seconds at most, in a process of its own whose writes go nowhere (as every command's do); with
``GRADTOOL_COMPLETE_LOADS=0`` nothing is run. Nothing here is imported before a shell asks.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

from gradtool.engine.files import user_cache

from .main import WORDS

SHELLS = ("bash", "zsh", "fish", "powershell")

SECONDS, PATIENCE = 2, 5
"""How long a model may run for its names, and how long a shell waits for the process around it."""

MOST = 2000
"""Names that are kept of a model."""

LOADS = "GRADTOOL_COMPLETE_LOADS"


class FileParamType(StringParamType):
    """A text that names a file: the shell completes it."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        return [CompletionItem(incomplete, type="file")]


class Folders(StringParamType):
    """A text that names a folder."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        return [CompletionItem(incomplete, type="dir")]


class NameParamType(StringParamType):
    """A text that names tensors or operators of the model on the line; before a model is there, its file."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        model = next(_models(ctx), None)
        if model is None:
            return [CompletionItem(incomplete, type="file")] if isinstance(param, click.Argument) else []
        return [CompletionItem(name) for name in names(model) if name.startswith(incomplete)]


class Rules(StringParamType):
    """A text that is a rule's code."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        from gradtool.engine.gate.rules import every

        return [CompletionItem(code) for code in every() if code.startswith(incomplete.upper())]


class Explained(Rules):
    """A text that is the code of a rule or of an error, or an operator."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        from gradtool.engine.ops import registry

        from .guide import pages

        errors = [CompletionItem(code) for code in pages.codes() if code.startswith(incomplete.upper())]
        types = [op.type for op in registry.all_ops() if incomplete and op.type.startswith(incomplete)]
        return [*super().shell_complete(ctx, param, incomplete), *errors, *map(CompletionItem, types)]


class Samples(StringParamType):
    """A text that names a sample model."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        from .guide import samples

        return [CompletionItem(name) for name in samples.names() if name.startswith(incomplete)]


KINDS: dict[str, type[StringParamType]] = {
    "CODE": Rules,
    "[CODE|RULE|OPERATOR|SYMPTOM]...": Explained,
    "DIR": Folders,
    "[FOLDER]": Folders,
    "[NAME]": Samples,
    "SELECTOR": NameParamType,
    "SELECTOR|auto": NameParamType,
    "[VAR]... MODEL": NameParamType,
    "OP": NameParamType,
    "MODEL": FileParamType,
    "[MODEL]...": FileParamType,
    "[MODEL|DIRECTORY|GLOB]...": FileParamType,
    "BEFORE [AFTER]": FileParamType,
}
"""What stands in the help for a value -> how it is completed; whatever begins with FILE is a file."""


def equip(command: click.Command) -> click.Command:
    """*command*, whose texts are completed by what its help calls them."""
    for param in command.params:
        metavar = param.metavar or (param.name or "").upper()
        kind = FileParamType if metavar.startswith("FILE") else KINDS.get(metavar)
        if kind is not None and type(param.type) is StringParamType:
            param.type = kind()
    return command


def _models(ctx: click.Context) -> Iterator[str]:
    """The words of the line that name files of models; what is typed is not yet a line that could be parsed."""
    from gradtool.engine.importers import is_called_model

    for word in ctx.meta.get(WORDS, ()):
        file = word.partition(":")[0]
        if is_called_model(Path(file)) and os.path.isfile(file):
            yield word


def names(model: str) -> list[str]:
    """The names of a model's parameters, inputs and operators, from the cache or a short run; none if neither tells."""
    file = _file(model)
    kept = user_cache.read(user_cache.NAMES, file)
    if kept is not None:
        return [str(name) for name in json.loads(kept)]
    if os.environ.get(LOADS, "").lower() in ("0", "false", "no", "off"):
        return []
    there = _run(model)
    if there is None:
        return []  # it may be quicker the next time
    user_cache.keep(user_cache.NAMES, file, json.dumps(there).encode())
    return there


def _file(model: str) -> str:
    """The name of the file that the names of a model are kept in: another one once its text has changed."""
    path = os.path.abspath(model.partition(":")[0])
    stat = os.stat(path)
    key = json.dumps([path, model.partition(":")[2], stat.st_mtime_ns, stat.st_size])
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:32] + ".json"


def _run(model: str) -> list[str] | None:
    """The names that ``gradtool graph --text`` prints of a model; None where it had no time for that."""
    words = [
        "graph",
        "--text",
        model,
        "--format",
        "json",
        "--quiet",
        "--isolated",
        "--steps",
        "1",
        "--limit",
        str(SECONDS),
    ]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("_GRADTOOL")}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "gradtool", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            env=environment,
            check=False,
        )
        blocks = json.loads(done.stdout)["blocks"]
    except subprocess.TimeoutExpired:
        return None
    except (OSError, ValueError, KeyError):
        return []
    operators = [op for block in blocks for op in block["operators"]]
    written = {name for op in operators for names in op["outputs"].values() for name in names}
    read = {name for op in operators for names in op["inputs"].values() for name in names}
    return [*sorted(read - written), *sorted({op["name"] for op in operators})][:MOST]
