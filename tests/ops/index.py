"""Writes ``engine/ops/index.py``: which file of ``engine/ops/library`` defines which operators.

::

    python -m tests.ops.index
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

import pytest

from gradtool.engine.ops import defined as defined_operators
from gradtool.engine.ops import library, opdef, registry
from gradtool.engine.ops.opdef import OpDef

TARGET = Path(registry.__file__).with_name("index.py")

HEAD = '''"""Table of the files of ``library/`` that define operators: one file is loaded for one operator.

Written by ``python -m tests.ops.index``; a test holds it against the folder.
"""

from __future__ import annotations

from typing import Final

'''


def defined() -> tuple[dict[str, str], dict[str, str]]:
    """Type of every operator -> its file, and name -> type where rules use another name.

    A definition file may make operators from a table, or import others, so its names do not say what it defines: the
    folder is read once more, and each operator is noted where it is registered from.
    """
    files: dict[str, str] = {}
    types: dict[str, str] = {}

    def note(op: OpDef) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_name != "<module>":
            frame = frame.f_back
        assert frame is not None, f"{op.type} is not defined at the top of a file"
        assert op.type not in files, f"{op.type} is defined twice"
        files[op.type] = frame.f_globals["__name__"].rpartition(".")[2]
        if op.name != op.type:
            types[op.name] = op.type

    modules = [f"{library.__name__}.{m.name}" for m in pkgutil.iter_modules(library.__path__)]
    named = dict(vars(library))
    with pytest.MonkeyPatch.context() as patch:
        for module in modules:
            patch.delitem(sys.modules, module, raising=False)
        for module_of_register in (opdef, defined_operators):
            patch.setattr(module_of_register, "register", note)
        for module in modules:
            importlib.import_module(module)
        for module in modules:
            del sys.modules[module]
    vars(library).clear()
    vars(library).update(named)  # the folder had got names of the modules that were read once more
    return files, types


def text() -> str:
    """The file as it should be."""
    files, types = defined()
    return (
        HEAD
        + _table("FILES", files, "Type of an operator -> the file that defines it.")
        + "\n"
        + _table("TYPES", types, "What rules call an operator -> its type, where that is another word.")
    )


def _table(name: str, entries: Mapping[str, str], doc: str) -> str:
    lines = "".join(f'    "{key}": "{entries[key]}",\n' for key in sorted(entries))
    return f'{name}: Final = {{\n{lines}}}\n"""{doc}"""\n'


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
