"""Programs that Paddle 3 wrote in its new IR: read, run and differentiated they give what Paddle computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.ir import roles
from gradtool.engine.ir.paddle.from_pir import from_pir
from gradtool.paddle.static import _foreign
from tests.cli.conftest import Run
from tests.paddle_files import archives
from tests.paddle_files.test_descriptions import executor, expect_near, feed_of, gradients_of

__all__ = ["executor"]
VERSIONS = ("pir_3.3.1", "pir_3.1.1", "zoo_pir_3.3.1", "zoo_pir_3.1.1")
CASES = [(version, n) for version in VERSIONS for n in archives.names(version)]
WITHOUT_GRADIENTS = frozenset({"s178_while_stopgrad_loopvar"})
"""Programs in which no gradient flows: nothing in the file says where their backward part began."""
SAVED_LAYERS = ("pir_blocks_3.3.1", "pir_blocks_3.1.1", "pir_served_3.3.1", "pir_served_3.1.1")
LAYERS = [(version, n) for version in SAVED_LAYERS for n in archives.names(version)]


@pytest.mark.parametrize(("version", "name"), CASES)
def test_program_of_the_new_ir_gives_what_paddle_computed(
    version: str, name: str, tmp_path: Path, executor: Any
) -> None:
    folder, values = archives.unpacked(version, name, tmp_path), archives.values(version, name)
    feed, gradients = feed_of(values), gradients_of(values)

    inference, fed, fetched = paddle.static.load_inference_model(str(folder / "infer"), executor)
    (inferred,) = executor.run(inference, feed={key: feed[key] for key in fed}, fetch_list=fetched)
    expect_near(inferred, values["inferred"])

    described = from_pir((folder / "train.json").read_bytes())
    program = described.program
    assert not described.absent.reasons
    if name in WITHOUT_GRADIENTS:
        assert not gradients
        return
    (marked,) = [op for op in program.global_block().ops if op.role == roles.FORWARD | roles.LOSS]
    loss = next(v for v in marked.output_variables() if v.spec.count == 1 and v.dtype.is_floating)
    beside = _foreign.beside(program, str(folder / "train.json"), (".pdparams", ".pdopt"))
    paddle.static.global_scope().values.update(beside)
    with paddle.static.program_guard(program):
        appended = {p.name: g for p, g in paddle.static.append_backward(loss)}
    got = executor.run(program, feed=feed, fetch_list=[loss, *(appended[p] for p in gradients)])
    expect_near(got[0], values["loss"])
    for value, wanted in zip(got[1:], gradients.values(), strict=True):
        expect_near(value, wanted)


@pytest.mark.parametrize(("version", "name"), LAYERS)
def test_saved_layer_gives_what_paddle_computed(version: str, name: str, tmp_path: Path, executor: Any) -> None:
    folder, values = archives.unpacked(version, name, tmp_path), archives.values(version, name)
    feed, gradients = feed_of(values), gradients_of(values)
    program, _, fetched = paddle.static.load_inference_model(str(folder / "infer"), executor)
    with paddle.static.program_guard(program):
        appended = {p.name: g for p, g in paddle.static.append_backward(fetched[0])}
    got = executor.run(program, feed=feed, fetch_list=[*fetched, *(appended[p] for p in gradients)])
    expect_near(got[0], values["inferred"])
    for value, wanted in zip(got[1:], gradients.values(), strict=True):
        expect_near(value, wanted)


def test_what_is_not_read_stands_in(executor: Any) -> None:
    content = json.loads(archives.files("pir_blocks_3.3.1")["Lists/infer.json"])
    loop = next(op for op in ops(content) if op["#"] == "1.while")
    loop["#"] = "1.pylayer"
    described = from_pir(json.dumps(content).encode())
    assert described.absent.texts() == ["pylayer (its backward is Python, which no file holds)"]


def test_commands_answer(gradtool: Run, folder: Path) -> None:
    archives.unpacked("pir_3.3.1", "s013_mlp_tanh_sigmoid", folder)
    done = gradtool("backward", "train.json", "--run")
    assert done.code == 0
    assert "4 of 4 parameters get a gradient" in done.out
    assert gradtool("why", "infer.json").code == 0


def changed(change: Any) -> bytes:
    content = json.loads(archives.files("pir_3.3.1")["s013_mlp_tanh_sigmoid/infer.json"])
    change(content)
    return json.dumps(content).encode()


def ops(content: Any) -> Any:
    return content["program"]["regions"][0]["blocks"][0]["ops"]


@pytest.mark.parametrize(
    ("change", "came"),
    [
        (lambda c: c["base_code"].update(version=99), "of the form"),
        (lambda c: ops(c)[-2]["I"].insert(0, {"%": 9999}), "nobody makes it"),
        (lambda c: ops(c).append(dict(ops(c)[5])), "twice"),
        (
            lambda c: ops(c)[0]["O"].update(TT={"#": "0.t_dtensor", "D": [{"#": "0.t_f32"}, [-3], "NCHW", [], 0]}),
            "type",
        ),
        (lambda c: ops(c)[0].update(A=[1, 2]), "a parameter"),
        (lambda c: c["program"].update(regions=[]), "blocks"),
        (lambda c: ops(c)[-1].pop("#"), "is None"),
    ],
)
def test_programs_that_cannot_exist_are_refused(change: Any, came: str) -> None:
    with pytest.raises(FileFormatError, match=came):
        from_pir(changed(change))
