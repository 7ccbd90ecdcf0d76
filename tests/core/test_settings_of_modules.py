"""Modules with settings of the process that a model is the first to import, while everything is to be given back."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import gradtool

ROOT = Path(gradtool.__file__).parent
MARK = re.compile(r"^@settings\.register_setting$", re.MULTILINE)

FIRST_INSIDE = """\
import importlib
import sys

from gradtool.engine.core import settings

for name in sys.argv[1:]:
    with settings.keep_settings():
        importlib.import_module(name)
"""


def _modules() -> list[str]:
    files = [f for f in ROOT.rglob("*.py") if MARK.search(f.read_text("utf-8"))]
    return sorted(".".join(("gradtool", *f.relative_to(ROOT).with_suffix("").parts)) for f in files)


def test_they_can_be_imported_first_inside_of_a_run() -> None:
    modules = [name.removesuffix(".__init__") for name in _modules()]
    assert "gradtool.paddle.jit._static_function" in modules
    run = subprocess.run([sys.executable, "-c", FIRST_INSIDE, *modules], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
