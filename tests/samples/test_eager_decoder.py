"""The decoder of twelve blocks: it learns, and its whole graph can be dumped."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradtool as paddle

SAMPLE = Path(__file__).parents[2] / "samples" / "eager_decoder.py"
PARAMETERS = 2 + 12 * 12 + 4


@pytest.fixture
def decoder(sample: Callable[[str], ModuleType]) -> Iterator[ModuleType]:
    paddle.seed(3)
    yield sample("eager_decoder")
    paddle.enable_static()


def test_it_learns_to_count(decoder: ModuleType) -> None:
    history = decoder.train()
    assert history[0] > 0.8 * np.log(10)
    assert history[-1] < 0.3 * history[0]


def test_the_dump_holds_every_block(decoder: ModuleType, tmp_path: Path) -> None:
    decoder.dump(str(tmp_path))
    texts = {p.name.partition("_")[2]: p.read_text(encoding="utf-8") for p in tmp_path.iterdir()}
    manifest = json.loads(texts["manifest.json"])
    assert len(manifest["pairs"]) == PARAMETERS
    operators = manifest["operators"]
    assert operators["forward"] == operators["backward"] > 12 * 20
    for name, count in (("backward_graph.dot", operators["backward"]), ("ref_forward_graph.dot", operators["forward"])):
        assert len(re.findall(r"^\top\d+ \[", texts[name], re.MULTILINE)) == count
    assert texts["call_stack.log"].count("\n\nop") == 2 * operators["forward"]
    assert "(not made by a line" not in texts["call_stack.log"]
    assert "blocks.11.narrow.weight" in texts["ref_forward_graph.dot"]


def cli(*arguments: str) -> Any:
    start = "import sys; from gradtool.cli.main import main; sys.exit(main())"
    return subprocess.run([sys.executable, "-c", start, *arguments], capture_output=True, encoding="utf-8", check=True)


def test_the_command_line_finds_every_parameter_by_its_path(tmp_path: Path) -> None:
    done = cli("backward", str(SAMPLE), "--no-grad", "blocks.0.*", "--format", "json", "--dump", str(tmp_path))
    data = json.loads(done.stdout)
    rows = {r["layer_path"]: r for r in data["parameters"]}
    assert len(rows) == PARAMETERS
    cut = {path for path, row in rows.items() if not row["returned"]}
    assert cut == {path for path in rows if path.startswith("blocks.0.")}
    assert data["removed_by_no_grad"] == len(cut) == 12
    assert all(row["values"]["norm"] > 0 for row in rows.values() if row["returned"])
    log = (tmp_path / "call_stack.log").read_text(encoding="utf-8")
    assert re.search(r"in build\n.*\n.*in loss_of\n.*\n.*in forward\n.*\n.*in forward\n.*\n.*in attention\n", log)
