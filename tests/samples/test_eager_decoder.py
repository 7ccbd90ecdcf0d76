"""The decoder of twelve blocks: it learns, and its whole graph can be dumped."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gradtool import paddle
from tests import processes

SAMPLE = Path(__file__).parents[2] / "samples" / "eager_decoder.py"
PARAMETERS = 2 + 12 * 12 + 4


@pytest.fixture
def decoder(sample: Callable[[str], ModuleType]) -> Iterator[ModuleType]:
    paddle.seed(3)
    yield sample("eager_decoder")
    paddle.enable_static()


def trio(folder: Path) -> dict[str, str]:
    """The files of the dump in *folder*, by their names without the stamp, which is also left out of the texts."""
    [stamp] = {p.name.partition("_")[0] for p in folder.iterdir()}
    return {
        p.name.removeprefix(f"{stamp}_"): p.read_text(encoding="utf-8").replace(f"{stamp}_", "")
        for p in folder.iterdir()
    }


def nodes(text: str) -> dict[str, str]:
    """Id -> label of the operators in a graph."""
    return dict(re.findall(r'^\t(op\d+) \[label="(.*?)" ', text, re.MULTILINE))


def test_the_dump_holds_every_block(decoder: ModuleType, tmp_path: Path) -> None:
    decoder.dump(str(tmp_path))
    texts = trio(tmp_path)
    manifest = json.loads(texts["manifest.json"])
    assert manifest["files"] == ["backward_graph.dot", "call_stack.log", "outline.json", "ref_forward_graph.dot"]
    assert len(manifest["pairs"]) == PARAMETERS
    forward, backward = nodes(texts["ref_forward_graph.dot"]), nodes(texts["backward_graph.dot"])
    assert manifest["operators"] == {"forward": len(forward), "backward": len(backward)}
    assert len(forward) == len(backward) > 12 * 20
    for path in decoder.Decoder().state_dict():
        # In the label where it is short enough, else in the tooltip.
        assert re.search(r'"(P )?' + re.escape(f"{path} ("), texts["ref_forward_graph.dot"])
        assert re.search(r'"(G )?' + re.escape(f"{path}@GRAD ("), texts["backward_graph.dot"])


def test_the_two_graphs_and_the_stacks_refer_to_each_other(decoder: ModuleType, tmp_path: Path) -> None:
    decoder.dump(str(tmp_path))
    texts = trio(tmp_path)
    forward, backward = nodes(texts["ref_forward_graph.dot"]), nodes(texts["backward_graph.dot"])
    assert not forward.keys() & backward.keys()
    for here, there in ((forward, backward), (backward, forward)):
        for id_, label in here.items():
            partner = re.search(r"↔ (op\d+) ·.* eager_decoder\.py:\d+$", label)
            assert partner is not None
            assert f"↔ {id_} ·" in there[partner[1]]
    stacks = re.findall(
        r"^(op\d+) (\S+)(?:  \(gradient of (op\d+) .*\))?\n  File \"(.*)\"", texts["call_stack.log"], re.M
    )
    assert len(stacks) == len(forward) + len(backward)
    for id_, name, of, file in stacks:
        assert (forward | backward)[id_].startswith(f"{'B' if of else 'F'} {name}\\n{id_} · ↔ {of}")
        assert file.endswith("eager_decoder.py")


def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    trios = []
    for seed in ("0", "1"):
        folder = tmp_path / seed
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, str(SAMPLE), str(folder)], check=True, env=environment)
        trios.append(trio(folder))
    assert trios[0] == trios[1]
    assert len(trios[0]) == 5


def cli(*arguments: str) -> Any:
    start = "import sys; from gradtool.cli.main import main; sys.exit(main())"
    return processes.run([sys.executable, "-c", start, *arguments], check=True)


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
