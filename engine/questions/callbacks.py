"""``--callbacks``: functions of the user's that hear of each operator that backward appends."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from ..core.command_errors import CommandError, unknown
from ..kinds.program.model import ProgramModel
from ..loading import targets
from ..script.users_code import call, compile_file, execute


def callback(text: str | Callable[..., Any], model: ProgramModel) -> Callable[..., Any]:
    """Return the function that ``MODULE:FUNCTION`` names; ``:FUNCTION`` is one of the model file.

    Raises:
        CommandError: the text is of another form, or there is no such function.
        ModelError: the file raised.
    """
    if not isinstance(text, str):
        return text
    where, colon, name = text.rpartition(":")
    if not colon or not name.isidentifier():
        raise CommandError(f"--callbacks {text}: expected MODULE:FUNCTION or FILE.py:FUNCTION")
    namespace = model.namespace
    if where:
        module = types.ModuleType("__gradtool_callbacks__")
        _run_file(where, module.__dict__)
        namespace = module.__dict__
    function = namespace.get(name)
    if not callable(function):
        names = [n for n in namespace if n[:1] != "_"]
        raise unknown(f"function for --callbacks in {where or model.name}:", name, names)
    called: Callable[..., Any] = function
    return called


def _run_file(where: str, namespace: dict[str, Any]) -> None:
    """Run another file or module of the user's with *namespace* as its names."""
    target = targets.target(where)
    if target.saved is not None:
        raise CommandError(f"{target.name} holds a program: it has no functions")
    namespace["__file__"] = target.file
    texts = [(cell.name, cell.text) for cell in target.cells] or [(target.shown, target.read())]
    for name, text in texts:
        call(target.name, execute, call(target.name, compile_file, text, name), namespace)
