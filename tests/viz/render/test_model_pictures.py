"""ResNet-50 and a GPT of twelve blocks, drawn in every format: right in geometry, folded as people would fold them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from gradtool.engine.view.graph import BACKWARD, FORWARD, OP, GraphView, NodeView
from gradtool.viz import fold
from gradtool.viz.external import draw
from gradtool.viz.layers import layers
from gradtool.viz.mirror.layout import mirror
from gradtool.viz.render import dot, html, mermaid, svg, text
from gradtool.viz.render import json as json_form
from tests.sampling import sampled
from tests.viz.geometry import faults
from tests.viz.models import MODES, NAMES, Model, loaded

SVG = "{http://www.w3.org/2000/svg}"

FORWARD_OPERATORS = {
    "resnet50": {"conv2d": 53, "batch_norm": 53, "relu": 49, "elementwise_add": 17, "pool2d": 2, "matmul_v2": 1},
    "gpt": {"layer_norm": 25, "softmax": 12, "gelu": 12, "dropout": 24, "matmul_v2": 12 * 6 + 1, "lookup_table_v2": 2},
}


def of_forward(view: GraphView) -> list[NodeView]:
    return [n for n in view.nodes if n.kind == OP and n.part == FORWARD]


def folds(view: GraphView) -> dict[str, GraphView]:
    return {
        "nothing": view,
        "repetitions": fold.fold_repetitions(view),
        "layers": fold.layers(view),
        "automatic": fold.automatic(view),
        "to 120": fold.automatic(view, 120),
        "to 30": fold.automatic(view, 30),
    }


def test_the_models_are_what_they_are_called(model: Model) -> None:
    types = Counter(n.type for n in of_forward(model.view))
    for type_, count in FORWARD_OPERATORS[model.name].items():
        if type_ != "elementwise_add" or model.mode == "eager":
            assert types[type_] == count, type_
    gradients = [n for n in model.view.nodes if n.role == "gradient"]
    assert len(gradients) == {"resnet50": 161, "gpt": 148}[model.name]
    differentiated = {n.pair for n in model.view.nodes if n.kind == OP and n.part == BACKWARD}
    trained = [n for n in of_forward(model.view) if n.type in ("conv2d", "batch_norm", "matmul_v2", "layer_norm")]
    assert all(n.id in differentiated for n in trained)


def test_nothing_overlaps_whatever_is_folded(model: Model) -> None:
    for how, view in folds(model.view).items():
        assert faults(mirror(view)) == [], how
    for part in (FORWARD, BACKWARD):
        assert faults(mirror(model.view.only(part))) == []


def test_the_stages_of_a_resnet_are_folded_but_for_their_first_blocks() -> None:
    for mode in MODES:
        view = fold.fold_repetitions(loaded("resnet50", mode).view)
        ops = of_forward(view)
        counts = {n.scope: n.count for n in ops if n.type == "conv2d"}
        for stage, blocks in enumerate((3, 4, 6, 3), 1):
            rest = "1" if blocks == 1 else "*"
            for place in ("conv1", "conv2", "conv3"):
                assert counts[f"layer{stage}.0.{place}"] == 1, mode
                assert counts[f"layer{stage}.{rest}.{place}"] == blocks - 1, mode
            assert counts[f"layer{stage}.0.downsample.0"] == 1, mode
        # What a block consists of is counted as often as the block: activations and sums too.
        assert Counter(n.count for n in ops if n.type == "relu") == {1: 13, 2: 6, 3: 3, 5: 3}
        assert len(ops) < 0.6 * len(of_forward(loaded("resnet50", mode).view))


def test_the_blocks_of_a_gpt_are_folded_into_one() -> None:
    for mode in MODES:
        whole = loaded("gpt", mode).view
        view = fold.fold_repetitions(whole)
        in_block = [n for n in of_forward(view) if n.scope.startswith("blocks.")]
        assert {n.count for n in in_block} == {12}, mode
        assert {n.scope for n in in_block} >= {"blocks.*.ln1", "blocks.*.attn.qkv", "blocks.*.mlp.proj"}
        assert [n.count for n in of_forward(view) if n.type == "softmax"] == [12]
        assert len(view.drawn()) < 130, mode
        titles = [f.title for f in mirror(view).frames]
        assert "×12" in " ".join(titles), titles


def test_layers_have_their_python_paths(model: Model) -> None:
    scopes = {n.scope for n in of_forward(model.view)}
    titles = {layer.title for layer in layers(mirror(model.view))}
    if model.name == "gpt":
        assert {f"blocks.{i}.attn.qkv" for i in range(12)} <= scopes
        assert {f"blocks.{i}" for i in range(12)} <= titles
    else:
        assert {"layer3.5.bn2", "layer4.0.downsample.1", "conv1", "fc"} <= scopes
        assert {"layer1", "layer4", "layer3.5"} <= titles


def test_a_shared_embedding_gets_the_sum_of_both_uses() -> None:
    view = loaded("gpt", "static").view
    [gradient] = [n for n in view.nodes if n.name == "embedding_0.w_0@GRAD"]
    by_id = view.by_id()
    [total] = [by_id[e.source] for e in view.edges if e.target == gradient.id]
    assert total.type == "sum"
    parts = {by_id[e.source].type for e in view.edges if e.target == total.id}
    assert parts == {"lookup_table_v2_grad", "matmul_v2_grad"}


@pytest.mark.parametrize("how", ["nothing", "automatic"])
def test_every_format(model: Model, how: str) -> None:
    view = folds(model.view)[how]
    scene = mirror(view)
    drawn = {n.id for n in view.drawn()}

    picture = ElementTree.fromstring(svg.render(scene))
    assert {g.get("id") for g in picture.iter(f"{SVG}g")} >= drawn

    listing = dot.render(scene)
    assert set(re.findall(r"^\t+((?:op|v)\d+) \[", listing, re.MULTILINE)) == drawn
    if how == "automatic":
        assert draw(listing, "svg").count(b'class="node"') >= len(drawn)

    page = html.render(scene, details=model.details())
    assert len(page.encode()) < 210_000
    assert page.count("<script") == 2

    tree = json.loads(json_form.render(view))
    schema = json.loads((Path(json_form.__file__).parents[2] / "cli/schemas/graph.json").read_text())
    jsonschema.validate(tree, schema)
    assert {n["id"] for n in tree["nodes"]} >= drawn

    chart = mermaid.render(view)
    assert "\nflowchart " in chart
    nodes = set(re.findall(r"^\s*((?:op|v)\d+)[\[({>]", chart, re.MULTILINE))
    assert nodes <= drawn
    assert len(nodes) > 0.9 * len(drawn)

    table = text.render(view)
    assert sum(" = " in line for line in table.splitlines()) >= len(of_forward(view))


def digests(names: Sequence[str]) -> dict[str, str]:
    """A digest of every format of models."""
    hashes = {}
    for name in names:
        for mode in MODES:
            model = loaded(name, mode)
            for how in ("nothing", "automatic"):
                view = model.view if how == "nothing" else fold.automatic(model.view)
                scene = mirror(view)
                contents: dict[str, Any] = {
                    "svg": svg.render(scene),
                    "dot": dot.render(scene),
                    "html": html.render(scene, details=model.details()),
                    "json": json_form.render(view),
                    "mermaid": mermaid.render(view),
                    "text": text.render(view),
                }
                for form, content in contents.items():
                    hashes[f"{name} {mode} {how} {form}"] = hashlib.sha256(content.encode()).hexdigest()
    return hashes


def test_the_same_bytes_whatever_the_seed_of_hashes() -> None:
    names = sampled(NAMES, str, len(NAMES))
    code = (
        f"import json; from tests.viz.render.test_model_pictures import digests; print(json.dumps(digests({names!r})))"
    )
    root = Path(__file__).parents[3]
    path = os.pathsep.join([str(root), *sys.path])
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            cwd=root,
            stdout=subprocess.PIPE,
        )
        for seed in ("1", "2")
    ]
    first, second = (json.loads(process.communicate()[0]) for process in started)
    assert len(first) == len(names) * len(MODES) * 2 * 6
    assert first == second
