"""The scripts of public reports: each is read, and each recorded run belongs to one."""

import ast

import pytest

from . import RUNS, SCRIPTS


@pytest.mark.parametrize("script", sorted(p.stem for p in SCRIPTS.glob("*.py")))
def test_a_script_imports_its_framework(script):
    tree = ast.parse((SCRIPTS / f"{script}.py").read_text("utf-8"))
    imported = {name.name for node in tree.body if isinstance(node, ast.Import) for name in node.names}
    assert script.partition("_")[0] in imported


def test_each_recorded_run_has_a_script():
    assert {run.stem for run in RUNS.glob("*.torchrun")} <= {p.stem for p in SCRIPTS.glob("torch_*.py")}
