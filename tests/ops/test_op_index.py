"""The index of operators is the folder of their definitions, and one operator loads one file."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gradtool.engine.ops import registry

from . import index


def test_the_index_is_the_folder() -> None:
    assert index.TARGET.read_text(encoding="utf-8") == index.text(), "write it anew: python -m tests.ops.index"


def test_every_operator_is_found_by_its_name() -> None:
    files, types = index.defined()
    names = {type_: name for name, type_ in types.items()}
    for type_ in files:
        op = registry.get_by_type(type_)
        assert registry.get_by_name(names.get(type_, type_)) is op


@pytest.mark.parametrize("asked", ["get_by_type('relu')", "get_by_name('add')", "get_by_type('tanh_grad')"])
def test_one_operator_loads_one_file(asked: str) -> None:
    program = (
        "import sys\nfrom gradtool.engine.ops import registry\n"
        f"registry.{asked}\n"
        "print(sorted(m.rpartition('.')[2] for m in sys.modules if m.startswith('gradtool.engine.ops.library.')))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert len(done.stdout.split(",")) < len(set(index.defined()[0].values())) // 4
