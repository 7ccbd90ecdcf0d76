"""ResNet-50 and GPT as people write them: in both modes every trained parameter gets a gradient."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests import processes

MODELS = Path(__file__).parents[2] / "samples" / "models"
START = "import sys; from gradtool.cli.main import main; sys.exit(main())"


@pytest.mark.parametrize("mode", ["eager", "static"])
@pytest.mark.parametrize(("name", "trained", "others"), [("resnet50", 161, 106), ("gpt", 148, 0)])
def test_every_trained_parameter_gets_a_gradient(name: str, mode: str, trained: int, others: int) -> None:
    command = ["backward", str(MODELS / f"{name}.py"), "--mode", mode, "--run", "--format", "json"]
    done = processes.run([sys.executable, "-c", START, *command], check=True)
    rows = [r for r in json.loads(done.stdout)["parameters"] if r["is_parameter"]]
    complete = [r for r in rows if r["status"] == "ok"]
    assert len(complete) == trained
    assert all(r["values"]["norm"] > 0 for r in complete)
    # What batch normalisation counts is not trained.
    assert len(rows) == trained + others
    assert all("._" in r["layer_path"] for r in rows if r["status"] != "ok")


def test_the_shared_embedding_is_used_twice() -> None:
    command = ["why", "tokens.weight", str(MODELS / "gpt.py"), "--contributions", "--format", "json"]
    done = processes.run([sys.executable, "-c", START, *command], check=True)
    [answer] = json.loads(done.stdout)["answers"]
    assert answer["verdict"] == "ok"
    parts = {p["operator"].partition(".")[0] for p in answer["contributions"]}
    assert parts == {"lookup_table_v2", "matmul_v2"}
