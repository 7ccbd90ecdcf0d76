"""``jit.save`` and ``jit.load``: files, what they agree with, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.static import InputSpec

pytestmark = pytest.mark.usefixtures("dynamic")

SPEC = [InputSpec([None, 3], "float32", "x")]
X = np.arange(6, dtype="float32").reshape(2, 3)


class Net(nn.Layer):
    """Two outputs, and a method beside ``forward``."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1D(4)
        self.drop = nn.Dropout(0.5)

    @paddle.jit.to_static(input_spec=SPEC)
    def forward(self, x: Any) -> Any:
        h = self.norm(self.body(x))
        return {"h": h, "dropped": self.drop(h) * 2}

    @paddle.jit.to_static(input_spec=SPEC)
    def embed(self, x: Any) -> Any:
        return self.body(x)


def test_all_marked_methods_come_back(tmp_path: Path) -> None:
    net, prefix = Net(), str(tmp_path / "deep" / "net")
    net(paddle.to_tensor(X))
    paddle.jit.save(net, prefix)
    names = ["net.embed.pdiparams", "net.embed.pdmodel", "net.pdiparams", "net.pdmodel"]
    assert sorted(os.listdir(tmp_path / "deep")) == names
    net.eval()
    loaded = paddle.jit.load(prefix)
    assert isinstance(loaded, paddle.jit.TranslatedLayer)
    assert not loaded.training
    wanted = net(paddle.to_tensor(X))
    first, second = loaded(X)
    np.testing.assert_array_equal(first.numpy(), wanted["h"].numpy())
    np.testing.assert_array_equal(second.numpy(), wanted["dropped"].numpy())
    np.testing.assert_array_equal(loaded.embed(X).numpy(), net.body(paddle.to_tensor(X)).numpy())
    assert first.stop_gradient
    assert [s.name for s in loaded._input_spec()] == ["x"]
    assert [s.shape for s in loaded._output_spec("embed")] == [(-1, 4)]
    assert loaded.program("embed") is not loaded.program()
    with pytest.raises(ValueError, match="`other` does not exist"):
        loaded.program("other")
    # Parameters in the order of their names; those of methods are one.
    assert list(loaded.state_dict()) == [f"param_{i}" for i in range(6)]
    assert [p.stop_gradient for p in loaded.state_dict().values()] == [False, False, True, True, False, False]


def test_what_was_loaded_is_trained_and_saved_again(tmp_path: Path) -> None:
    paddle.jit.save(Net(), str(tmp_path / "net"))
    loaded = paddle.jit.load(str(tmp_path / "net")).train()
    optimizer = paddle.optimizer.SGD(0.1, parameters=loaded.parameters())
    before = loaded(X)[0].numpy()
    loaded(X)[0].square().sum().backward()
    optimizer.step()
    after = loaded(X)[0].numpy()
    assert not np.allclose(before, after)
    paddle.jit.save(loaded, str(tmp_path / "again"))
    again = paddle.jit.load(str(tmp_path / "again"))
    np.testing.assert_array_equal(again(X)[0].numpy(), after)
    again.set_state_dict(paddle.jit.load(str(tmp_path / "net")).state_dict())
    np.testing.assert_array_equal(again(X)[0].numpy(), before)


def test_static_inference_reads_and_writes_the_same_files(tmp_path: Path) -> None:
    prefix = str(tmp_path / "linear")
    layer = nn.Linear(3, 2)
    paddle.jit.save(layer, prefix, input_spec=SPEC)
    paddle.enable_static()
    try:
        with paddle.static.scope_guard(paddle.static.Scope()):
            exe = paddle.static.Executor()
            program, feeds, fetches = paddle.static.load_inference_model(prefix, exe)
            (result,) = exe.run(program, {feeds[0]: X}, fetches)
            data = program.global_block().vars[feeds[0]]
            paddle.static.save_inference_model(str(tmp_path / "static"), [data], fetches, exe, program=program)
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(result, layer(paddle.to_tensor(X)).numpy(), rtol=1e-6)
    np.testing.assert_allclose(paddle.jit.load(str(tmp_path / "static"))(X).numpy(), result, rtol=1e-6)


def test_some_outputs_one_file_and_functions(tmp_path: Path) -> None:
    net = Net()
    outputs = net.forward.concrete_program.outputs
    paddle.jit.save(net, str(tmp_path / "one"), output_spec=None, combine_params=True)
    assert sorted(os.listdir(tmp_path)) == ["one.embed.pdmodel", "one.pdiparams", "one.pdmodel"]
    assert len(paddle.jit.load(str(tmp_path / "one"))(X)) == 2
    plain = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    paddle.jit.save(plain, str(tmp_path / "plain"), input_spec=[paddle.to_tensor(X)])
    assert paddle.jit.load(str(tmp_path / "plain"))(X).shape == [2, 2]

    def both(x: Any) -> Any:
        return x + 1, x * 2

    marked = paddle.jit.to_static(both, input_spec=SPEC)
    wanted = [InputSpec([None, 3], name=marked.outputs[1].name)]
    paddle.jit.save(marked, str(tmp_path / "f"), output_spec=wanted)
    np.testing.assert_array_equal(paddle.jit.load(str(tmp_path / "f"))(X).numpy(), X * 2)
    with pytest.raises(ValueError, match="is no output; the outputs are"):
        paddle.jit.save(marked, str(tmp_path / "g"), output_spec=[outputs[0]])
    paddle.jit.save(net, str(tmp_path / "only"), skip_forward=True)
    only = paddle.jit.load(str(tmp_path / "only"))
    assert only.embed(X).shape == [2, 4]
    with pytest.raises(ValueError, match="`forward` does not exist"):
        only(X)


def test_a_model_writes_its_network(tmp_path: Path) -> None:
    model = paddle.Model(nn.Linear(3, 2), inputs=SPEC)
    model.prepare()
    model.save(str(tmp_path / "net"), training=False)
    np.testing.assert_allclose(
        paddle.jit.load(str(tmp_path / "net"))(X).numpy(), model.predict_batch([X])[0], rtol=1e-6
    )


def test_what_is_written_is_what_the_layer_does_now(tmp_path: Path) -> None:
    class Factor(nn.Layer):
        factor = 2.0

        def forward(self, x: Any) -> Any:
            return x * self.factor

    net = paddle.jit.to_static(Factor(), input_spec=SPEC)
    assert net.forward.outputs
    net.factor = 5.0
    paddle.jit.save(net, str(tmp_path / "net"))
    np.testing.assert_array_equal(paddle.jit.load(str(tmp_path / "net"))(X).numpy(), X * 5)


def test_wrong_calls(tmp_path: Path) -> None:
    prefix = str(tmp_path / "net")
    with pytest.raises(TypeError, match="should be 'Layer' or 'Function'"):
        paddle.jit.save(3, prefix)
    with pytest.raises(ValueError, match="No valid transformed program"):
        paddle.jit.save(nn.Linear(3, 2), prefix)
    with pytest.raises(ValueError, match="file_prefix is empty"):
        paddle.jit.save(nn.Linear(3, 2), f"{tmp_path}/", SPEC)
    with pytest.raises(ValueError, match="additional config"):
        paddle.jit.save(nn.Linear(3, 2), prefix, SPEC, foo=1)
    with pytest.raises(ValueError, match="other than 'forward'"):
        paddle.jit.save(Net(), prefix, SPEC)
    with pytest.raises(ValueError, match="returns no tensor"):
        paddle.jit.save(lambda x: 3, prefix, SPEC)
    assert os.listdir(tmp_path) == []
    paddle.jit.save(nn.Linear(3, 2), prefix, SPEC)
    loaded = paddle.jit.load(prefix)
    with pytest.raises(ValueError, match=r"takes 1 tensors \(x\), but received 2"):
        loaded(X, X)
    with pytest.raises(ValueError, match=r"saved with the shape \[-1, 3\], but received \[3, 2\]"):
        loaded(X.T)
    with pytest.raises(TypeError, match="saved as float32, but received float64"):
        loaded(X.astype("float64"))


def test_files_that_are_not_read(tmp_path: Path) -> None:
    prefix = str(tmp_path / "net")
    with pytest.raises(ValueError, match="not exists"):
        paddle.jit.load(prefix)
    (tmp_path / "net.json").write_text("{}")  # JSON for some other reason
    with pytest.raises(ValueError, match="not exists"):
        paddle.jit.load(prefix)
    (tmp_path / "net.json").write_text('{"base_code": {"magic": "pir", "version": 99}, "program": {}}')
    with pytest.raises(ValueError, match="forms up to version"):
        paddle.jit.load(prefix)
    (tmp_path / "net.pdmodel").write_bytes(b"\x0a\x0b paddle")
    with pytest.raises(ValueError, match="pdmodel"):
        paddle.jit.load(prefix)
    paddle.jit.save(nn.Linear(3, 2), prefix, SPEC)
    os.remove(prefix + ".pdiparams")
    with pytest.raises(ValueError, match="it holds no value of 'linear"):
        paddle.jit.load(prefix)
