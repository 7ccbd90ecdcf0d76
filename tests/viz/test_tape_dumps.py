"""The graph behind tensors of dynamic mode, and the dump that ``dump_backward_graph_path`` writes."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.view import from_tape
from gradtool.engine.view.graph import BACKWARD, FORWARD, OP, GraphView, NodeView
from gradtool.viz import dump, writing

TRIO = ["backward_graph.dot", "call_stack.log", "manifest.json", "outline.json", "ref_forward_graph.dot"]


pytestmark = pytest.mark.usefixtures("dynamic")


def leaf(name: str, *shape: int) -> Any:
    tensor = paddle.full(shape, 2.0)
    tensor.stop_gradient = False
    tensor.name = name
    return tensor


def network() -> Any:
    data = paddle.full([4, 3], 1.0)
    data.name = "data"
    h = paddle.matmul(data, leaf("w", 3, 2)) + leaf("b", 2)
    return paddle.mean(h * h)


def ops(view: GraphView, part: str) -> list[NodeView]:
    return [n for n in view.nodes if n.kind == OP and n.part == part]


def test_forward_and_gradient_operators_name_each_other() -> None:
    view = from_tape.view([network()])
    forward, backward = ops(view, FORWARD), ops(view, BACKWARD)
    assert [n.id for n in forward] == ["op0", "op1", "op2", "op3"]
    assert [n.type for n in forward] == ["matmul_v2", "elementwise_add", "elementwise_mul", "reduce_mean"]
    assert [n.id for n in backward] == ["op4", "op5", "op6", "op7"]
    assert [n.name for n in backward] == [f"{n.type}_grad.0" for n in reversed(forward)]
    by_id = view.by_id()
    for node in (*forward, *backward):
        assert node.pair is not None
        assert by_id[node.pair].pair == node.id
    assert all(n.source.startswith("test_tape_dumps.py:") for n in (*forward, *backward))


def test_leaves_inputs_and_results_are_nodes_with_their_names() -> None:
    view = from_tape.view([network()])
    named = {n.name: n for n in view.nodes}
    assert (named["w"].role, named["w"].spec) == ("leaf", "float32[3, 2]")
    assert (named["data"].role, named["data"].spec) == ("constant", "float32[4, 3]")
    assert (named["b@GRAD"].role, named["b@GRAD"].pair) == ("gradient", named["b"].id)
    edges = {(view.by_id()[e.source].name, view.by_id()[e.target].name, e.slot) for e in view.edges}
    assert ("w", "matmul_v2.0", "Y") in edges
    assert ("data", "matmul_v2.0", "X") in edges
    assert ("matmul_v2_grad.0", "w@GRAD", "Y@GRAD") in edges
    assert ("elementwise_add_grad.0", "matmul_v2_grad.0", "Out@GRAD") in edges
    saved = {(view.by_id()[e.source].name, view.by_id()[e.target].name) for e in view.edges if e.saved}
    assert saved == {
        ("elementwise_add.0", "elementwise_mul_grad.0"),
        ("data", "matmul_v2_grad.0"),
        ("w", "matmul_v2_grad.0"),
    }


def test_the_same_program_gives_the_same_picture() -> None:
    assert from_tape.view([network()]) == from_tape.view([network()])


def test_a_parameter_of_a_layer_shows_its_path() -> None:
    class Model(paddle.nn.Layer):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.head = paddle.nn.Linear(3, 1)

        def forward(self, x: Any) -> Any:
            return self.head(x)

    model = Model()
    view = from_tape.view([paddle.mean(model(paddle.full([2, 3], 1.0)))])
    weight = model.head.weight
    shown = {n.name: n.role for n in view.nodes}
    assert shown[f"head.weight ({weight.name})"] == "parameter"


def test_several_targets_one_inside_the_graph_of_the_other() -> None:
    x = leaf("x", 2)
    inner = x * x
    outer = paddle.sum(inner)
    view = from_tape.view([outer, inner, x])
    assert [n.name for n in view.nodes if n.role == "loss"] == ["elementwise_mul.0", "reduce_sum.0"]
    ids = view.by_id()
    into_seed = [e for e in view.edges if ids[e.target].role == "seed"]
    assert [ids[e.source].name for e in into_seed] == ["reduce_sum_grad.0"]


def test_outputs_of_one_operator_are_told_apart() -> None:
    parts = paddle.split(leaf("x", 4), 2)
    view = from_tape.view([paddle.sum(parts[0] * parts[1])])
    assert {"split.0[0]", "split.0[1]"} < {n.name for n in view.nodes}


def test_a_freed_graph_can_still_be_drawn() -> None:
    x = leaf("x", 2)
    y = paddle.sum(x * x)
    before = from_tape.view([y])
    y.backward()
    assert from_tape.view([y]) == before


def test_a_deep_chain_needs_no_recursion() -> None:
    y = leaf("x", 1)
    for _ in range(20_000):
        y = y * 1.0
    view = from_tape.view([y])
    assert len(ops(view, BACKWARD)) == 20_000
    assert len(view.edges) < 100_000


# -- files ------------------------------------------------------------------------------------------------------------


def test_the_files_of_a_dump(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "here"
    paths = dump.dump_tape([network()], str(folder))
    assert sorted(Path(p).name for p in paths) == sorted(p.name for p in folder.iterdir())
    assert sorted(p.name.partition("_")[2] for p in folder.iterdir()) == TRIO
    assert not any(":" in p.name for p in folder.iterdir())
    texts = {Path(p).name.partition("_")[2]: Path(p).read_text(encoding="utf-8") for p in paths}
    manifest = json.loads(texts["manifest.json"])
    assert manifest["pairs"] == [["w", "w@GRAD"], ["b", "b@GRAD"]]
    assert manifest["operators"] == {"forward": 4, "backward": 4}
    assert manifest["model"].startswith("test_tape_dumps.py:")
    assert sorted(manifest["files"]) == sorted(Path(p).name for p in paths if not p.endswith("manifest.json"))
    log = texts["call_stack.log"]
    assert "# One frame each" in log
    assert "op4 reduce_mean_grad.0  (gradient of op3 reduce_mean.0)\n  File " in log
    assert "      return paddle.mean(h * h)\n" in log
    assert "op4 · ↔ op3 · test_tape_dumps.py:" in texts["backward_graph.dot"]
    assert "op3 · ↔ op4 · test_tape_dumps.py:" in texts["ref_forward_graph.dot"]


def test_calls_at_once_never_share_a_stamp(tmp_path: Path) -> None:
    losses = [network() for _ in range(8)]
    threads = [threading.Thread(target=dump.dump_tape, args=([loss], str(tmp_path))) for loss in losses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = sorted(p.name for p in tmp_path.iterdir())
    assert len(names) == 8 * len(TRIO)
    assert len({n.partition("_")[0] for n in names}) == 8


def test_a_used_stamp_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a_graph.dot").write_text("kept")
    paths = writing.new_files(str(tmp_path), iter(["a_", "b_"]), lambda stamp: {f"{stamp}graph.dot": "new"})
    assert [Path(p).name for p in paths] == ["b_graph.dot"]
    assert (tmp_path / "a_graph.dot").read_text() == "kept"


def test_all_files_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace, calls = os.replace, []

    def full(source: str, target: str) -> None:
        calls.append(target)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match=r"cannot write to '.*': No space left on device") as caught:
        dump.dump_tape([network()], str(tmp_path))
    assert isinstance(caught.value, GradtoolError)
    assert list(tmp_path.iterdir()) == []


def test_a_target_without_graph_writes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert dump.dump_tape([paddle.full([1], 1.0)], str(folder)) == []
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("path", [b"out", Path("out"), 3])
def test_a_path_of_a_wrong_type(path: Any) -> None:
    with pytest.raises(AssertionError, match="path must be string type, but received"):
        dump.dump_tape([network()], path)


def test_a_path_that_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "taken"
    file.write_text("kept")
    for path in (file, file / "below"):
        with pytest.raises(NotADirectoryError, match="must be directory"):
            dump.dump_tape([network()], str(path))
    assert file.read_text() == "kept"


@pytest.mark.parametrize(("path", "said"), [("", "the path is empty"), ("a\0b", "cannot make the folder")])
def test_a_path_that_cannot_be_a_folder(path: str, said: str) -> None:
    with pytest.raises(OSError, match=said):
        dump.dump_tape([network()], path)


def test_a_folder_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(OSError, match="may not be written to"):
        dump.dump_tape([network()], str(tmp_path))


# -- dump_backward_graph_path -----------------------------------------------------------------------------------------


def test_every_way_to_run_backward_writes_a_dump(tmp_path: Path) -> None:
    x = leaf("x", 2)
    paddle.sum(x * x).backward(dump_backward_graph_path=str(tmp_path))
    paddle.autograd.backward([paddle.sum(x * 2.0)], dump_backward_graph_path=str(tmp_path))
    paddle.grad(paddle.sum(x * 3.0), x, dump_backward_graph_path=str(tmp_path))
    manifests = [json.loads(p.read_text(encoding="utf-8")) for p in tmp_path.glob("*_manifest.json")]
    lines = {m["model"] for m in manifests}
    assert len(lines) == 3
    assert all(line.startswith("test_tape_dumps.py:") for line in lines)


def test_a_bad_path_is_an_error_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("kept")
    x = leaf("x", 2)
    y = paddle.sum(x * x)
    for path, error in ((b"out", AssertionError), (str(tmp_path / "taken"), NotADirectoryError)):
        with pytest.raises(error):
            y.backward(dump_backward_graph_path=path)
    assert x.grad is None
    y.backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_the_dump_is_there_when_a_hook_raises(tmp_path: Path) -> None:
    x = leaf("x", 2)

    def broken(gradient: Any) -> None:
        raise KeyError("hook")

    x.register_hook(broken)
    with pytest.raises(KeyError):
        paddle.sum(x * x).backward(dump_backward_graph_path=str(tmp_path))
    assert len(list(tmp_path.iterdir())) == len(TRIO)


def test_an_operator_of_the_users_own(tmp_path: Path) -> None:
    class Twice(paddle.autograd.PyLayer):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            return a * 2.0, b * 2.0

        @staticmethod
        def backward(ctx: Any, da: Any, db: Any) -> Any:
            return da * 2.0, db * 2.0

    first, second = Twice.apply(leaf("a", 2), leaf("b", 2))
    view = from_tape.view([paddle.sum(first + second)])
    by_id = view.by_id()
    into = {(by_id[e.source].name, e.slot) for e in view.edges if by_id[e.target].name == "PyLayer_Twice.0"}
    assert into == {("a", "X0"), ("b", "X1")}
    out = {(by_id[e.target].name, e.slot) for e in view.edges if by_id[e.source].name == "PyLayer_Twice_grad.0"}
    assert out == {("a@GRAD", "X0@GRAD"), ("b@GRAD", "X1@GRAD")}
