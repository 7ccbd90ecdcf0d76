"""``static.save``, inference models and ``fluid.io``: programs and their values in files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import FileFormatError, FileMissing, UnsupportedError, UsageError, VariableNotFound
from gradtool.engine.executor.values import SkippedValueWarning
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.verify import verify

static = paddle.static
FEED = {"x": np.cos(np.arange(12, dtype=np.float32)).reshape(3, 4), "y": np.ones((3, 1), np.float32)}


class Net:
    """A program that trains, with its startup program and the variables that matter."""

    def __init__(self) -> None:
        self.main, self.startup = Program(), Program()
        self.exe = static.Executor()
        with static.program_guard(self.main, self.startup):
            self.x = static.data("x", [None, 4])
            self.y = static.data("y", [None, 1])
            h = static.nn.batch_norm(static.nn.fc(self.x, 3, activation="relu"))
            self.out = static.nn.fc(paddle.nn.functional.dropout(h, 0.25), 1)
            self.loss = paddle.mean(paddle.square(self.out - self.y))
            self.test = self.main.clone(for_test=True)
            paddle.optimizer.Adam(0.1).minimize(self.loss)

    def train(self, steps: int) -> list[bytes]:
        return [self.exe.run(self.main, feed=FEED, fetch_list=[self.loss])[0].tobytes() for _ in range(steps)]

    def predict(self) -> np.ndarray[Any, Any]:
        prediction: np.ndarray[Any, Any] = self.exe.run(self.test, feed={"x": FEED["x"]}, fetch_list=[self.out.name])[0]
        return prediction

    def values(self) -> dict[str, bytes]:
        return {name: np.array(value).tobytes() for name, value in self.main.state_dict().items()}


@pytest.fixture
def net() -> Iterator[Net]:
    """A network after three steps of training, in a scope of its own."""
    with static.scope_guard(static.Scope()):
        model = Net()
        paddle.seed(1)
        model.exe.run(model.startup)
        model.train(3)
        yield model


# -- static.save ------------------------------------------------------------------------------------------------------


def test_training_goes_on_bit_for_bit(net: Net, tmp_path: Path) -> None:
    prefix = str(tmp_path / "new" / "net")
    static.save(net.main, prefix)
    assert sorted(os.listdir(tmp_path / "new")) == ["net.pdmodel", "net.pdopt", "net.pdparams"]
    paddle.seed(2)
    expected = net.train(3)
    for path in (prefix, prefix + ".pdparams", prefix + ".pdopt", prefix + ".pdmodel"):
        with static.scope_guard(static.Scope()):
            static.load(net.main, path, net.exe)
            paddle.seed(2)
            assert net.train(3) == expected


def test_the_saved_program_trains_too(net: Net, tmp_path: Path) -> None:
    static.save(net.main, str(tmp_path / "net"))
    paddle.seed(2)
    expected = net.train(2)
    program = paddle.load(str(tmp_path / "net.pdmodel"))
    verify(program)
    assert str(program) == str(net.main)
    with static.scope_guard(static.Scope()):
        static.load(program, str(tmp_path / "net"))
        paddle.seed(2)
        losses = [net.exe.run(program, feed=FEED, fetch_list=[net.loss.name])[0].tobytes() for _ in range(2)]
    assert losses == expected


def test_only_some_variables_are_loaded(net: Net, tmp_path: Path) -> None:
    static.save(net.main, str(tmp_path / "net"))
    weight = net.main.global_block().var("fc_0.w_0")
    os.unlink(tmp_path / "net.pdopt")
    before = net.values()
    net.train(1)
    after = net.values()
    static.load(net.main, str(tmp_path / "net"), var_list=[weight])
    assert net.values() == after | {"fc_0.w_0": before["fc_0.w_0"]}
    with pytest.raises(FileMissing, match=r"net\.pdopt: there is no such file"):
        static.load(net.main, str(tmp_path / "net"))


def test_state_as_a_dict_of_arrays(net: Net, tmp_path: Path) -> None:
    static.save(net.main, str(tmp_path / "net"))
    before = net.values()
    state = static.load_program_state(str(tmp_path / "net"))
    assert {n: a.tobytes() for n, a in state.items()} == before
    assert list(static.load_program_state(str(tmp_path / "net"), [net.main.all_parameters()[0]])) == ["fc_0.w_0"]
    net.train(1)
    static.set_program_state(net.main, state)
    assert net.values() == before
    with pytest.warns(SkippedValueWarning, match="There are: nothing"):
        static.set_program_state(net.main, {"nothing": np.ones(1)})


def test_a_value_that_does_not_fit_changes_nothing(net: Net) -> None:
    before = net.values()
    good = np.zeros((4, 3), np.float32)
    with pytest.raises(AssertionError, match=r"shape of \(\(3, 1\)\).*\[ fc_1\.w_0 \]") as caught:
        static.set_program_state(net.main, {"fc_0.w_0": good, "fc_1.w_0": np.zeros((1, 3), np.float32)})
    assert isinstance(caught.value, ValueError)
    with pytest.raises(AssertionError, match=r"dtype of \(float32\).*dtype of \(float64\)") as caught:
        static.set_program_state(net.main, {"fc_0.w_0": good, "fc_1.w_0": np.zeros((3, 1))})
    assert isinstance(caught.value, TypeError)
    assert net.values() == before
    with static.scope_guard(static.Scope()), pytest.raises(AssertionError, match="make sure run startup program"):
        static.set_program_state(net.main, {})


def test_values_of_another_program(net: Net, tmp_path: Path) -> None:
    static.save(net.main, str(tmp_path / "net"))
    other = Program()
    with static.program_guard(other, Program()):
        static.create_parameter([2], "float32", name="fc_0.w_1")
    before = net.values()
    with pytest.raises(AssertionError, match=r"Can not find \[fc_0\.w_1\] in model file .*net\.pdparams") as caught:
        static.load(other, str(tmp_path / "net"))
    assert isinstance(caught.value, KeyError)
    assert net.values() == before


def test_values_before_the_startup_program(tmp_path: Path) -> None:
    net = Net()
    with static.scope_guard(static.Scope()), pytest.raises(VariableNotFound, match="run the startup program first"):
        static.save(net.main, str(tmp_path / "net"))
    assert os.listdir(tmp_path) == []


def test_a_file_of_another_kind(net: Net, tmp_path: Path) -> None:
    static.save(net.main, str(tmp_path / "net"))
    os.replace(tmp_path / "net.pdmodel", tmp_path / "net.pdparams")
    with pytest.raises(FileFormatError, match=r"net\.pdparams: expected values of variables by name"):
        static.load(net.main, str(tmp_path / "net"))
    (tmp_path / "net.pdparams").write_bytes(b"\x80\x04\x95 what Paddle writes")
    with pytest.raises(FileFormatError, match="the pickle is damaged or cut short"):
        static.load_program_state(str(tmp_path / "net"))


def test_arguments(net: Net, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"'program' in paddle\.static\.save must be Program"):
        static.save(3, "x")  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="model_path is empty string"):
        static.save(net.main, f"{tmp_path}/")
    with pytest.raises(ValueError, match="received protocol=9"):
        static.save(net.main, "x", protocol=9)
    with pytest.raises(UnsupportedError, match="pickle_protocol"):
        static.save(net.main, "x", pickle_protocol=3)
    with pytest.raises(FileMissing, match=r"nothing\.pdparams"):
        static.load(net.main, str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="'path_prefix' should be a string"):
        static.load_inference_model(3, net.exe)  # type: ignore[arg-type]


# -- inference --------------------------------------------------------------------------------------------------------


def test_an_inference_model_computes_the_same(net: Net, tmp_path: Path) -> None:
    expected = net.predict()
    prefix = str(tmp_path / "net")
    static.save_inference_model(prefix, [net.x], [net.out], net.exe, program=net.main)
    assert sorted(os.listdir(tmp_path)) == ["net.pdiparams", "net.pdmodel"]
    with static.scope_guard(static.Scope()):
        program, feeds, fetches = static.load_inference_model(prefix, net.exe)
        verify(program)
        assert feeds == ["x"]
        assert [v.name for v in fetches] == [net.out.name]
        result = net.exe.run(program, feed={"x": FEED["x"]}, fetch_list=fetches)[0]
    np.testing.assert_array_equal(result, expected)
    assert [op.type for op in program.global_block().ops] == [
        *("mul", "elementwise_add", "relu", "batch_norm", "dropout", "mul", "elementwise_add")
    ]
    assert all(op.attr("is_test") for op in program.global_block().ops if op.has_attr("is_test"))
    assert not program.global_block().has_var("y")


def test_the_default_program_and_single_variables(tmp_path: Path) -> None:
    x = static.data("x", [2, 3])
    out = paddle.tanh(x)
    static.save_inference_model(str(tmp_path / "net"), x, out, static.Executor())
    program, feeds, fetches = static.load_inference_model(str(tmp_path / "net"), static.Executor())
    assert (feeds, fetches[0].name) == (["x"], out.name)
    result = static.Executor().run(program, feed={"x": np.ones((2, 3), np.float32)}, fetch_list=fetches)[0]
    np.testing.assert_array_equal(result, np.tanh(np.ones((2, 3), np.float32)))


def test_an_intermediate_variable_can_be_fed() -> None:
    x = static.data("x", [2, 3])
    middle = paddle.tanh(x)
    out = paddle.exp(middle)
    program = static.normalize_program(static.default_main_program(), [middle], [out])
    verify(program)
    assert [op.type for op in program.global_block().ops] == ["exp"]
    value = np.ones((2, 3), np.float32)
    result = static.Executor().run(program, feed={middle.name: value}, fetch_list=[out.name])[0]
    np.testing.assert_array_equal(result, np.exp(value))


def test_overwritten_variables_keep_all_that_leads_to_them() -> None:
    x = static.data("x", [1])
    twice, other = paddle.exp(x), paddle.tanh(x)
    paddle.increment(twice)
    lost = paddle.square(other)
    paddle.assign(other, output=lost)
    program = static.normalize_program(static.default_main_program(), [x], [twice, lost])
    types = [op.type for op in program.global_block().ops]
    assert types == ["exp", "tanh", "increment", "assign"]


def test_feeds_and_fetches_that_do_not_fit(net: Net) -> None:
    def normal(feeds: Any, fetches: Any, **more: Any) -> Program:
        return static.normalize_program(net.main, feeds, fetches, **more)

    with pytest.raises(UsageError, match=r"fc_1\.tmp_1 cannot be computed without 'x'"):
        normal([], [net.out])
    with pytest.raises(UsageError, match="feed variable 'y' is not needed"):
        normal([net.x, net.y], [net.out])
    with pytest.raises(TypeError, match="'feed_vars' should be a Variable or a list of Variable"):
        normal("x", [net.out])
    with pytest.raises(UsageError, match="is not in the program"):
        static.normalize_program(Net().main, [paddle.static.data("z", [1])], [net.out])
    with pytest.raises(UsageError, match="program must not be empty"):
        static.normalize_program(Program(), [], [])
    with pytest.raises(UnsupportedError, match="prune_all"):
        normal([net.x], [net.out], prune_all=True)
    whole = normal([net.x, net.y], [net.out], skip_prune_program=True)
    assert "reduce_mean" in [op.type for op in whole.global_block().ops]


def test_bytes_instead_of_files(net: Net, tmp_path: Path) -> None:
    expected = net.predict()
    with static.program_guard(net.main):
        program_bytes = static.serialize_program([net.x], [net.out])
        value_bytes = static.serialize_persistables([net.x], [net.out], net.exe)
    static.save_to_file(str(tmp_path / "new" / "program"), program_bytes)
    with static.scope_guard(static.Scope()):
        program = static.deserialize_program(static.load_from_file(str(tmp_path / "new" / "program")))
        static.deserialize_persistables(program, value_bytes, net.exe)
        result = net.exe.run(program, feed={"x": FEED["x"]}, fetch_list=[net.out.name])[0]
    np.testing.assert_array_equal(result, expected)
    with pytest.raises(FileFormatError, match="the bytes: expected a program, but it holds a dict"):
        static.deserialize_program(value_bytes)
    with pytest.raises(FileFormatError, match="expected values of variables by name"):
        static.deserialize_persistables(program, program_bytes, net.exe)
    with pytest.raises(FileMissing):
        static.load_from_file(str(tmp_path / "nothing"))


def test_a_model_whose_values_do_not_fit_it(net: Net, tmp_path: Path) -> None:
    prefix = str(tmp_path / "net")
    static.save_inference_model(prefix, [net.x], [net.out], net.exe, program=net.main)
    before = net.values()
    state = paddle.load(prefix + ".pdiparams", return_numpy=True)
    paddle.save({**state, "fc_1.w_0": np.zeros((9, 9), np.float32)}, prefix + ".pdiparams")
    with pytest.raises(AssertionError, match="shape does not match"):
        static.load_inference_model(prefix, net.exe)
    held = paddle.load(prefix + ".pdmodel")
    paddle.save({**held, "feed": ["nothing"]}, prefix + ".pdmodel")
    with pytest.raises(FileFormatError, match=r"net\.pdmodel: expected names of variables to feed and fetch"):
        static.load_inference_model(prefix, net.exe)
    paddle.save({**held, "feed": [["x"]]}, prefix + ".pdmodel")
    with pytest.raises(FileFormatError, match="names of variables to feed and fetch"):
        static.load_inference_model(prefix, net.exe)
    assert net.values() == before


# -- fluid.io ---------------------------------------------------------------------------------------------------------


def test_the_functions_of_version_1(net: Net, tmp_path: Path) -> None:
    io, folder = paddle.fluid.io, str(tmp_path)
    before = net.values()
    io.save_persistables(net.exe, folder, net.main)
    io.save_params(net.exe, folder, net.main, filename="parameters")
    io.save_vars(net.exe, folder, net.main, vars=["fc_0.w_0"], filename="one")
    assert sorted(os.listdir(folder)) == ["__params__", "one", "parameters"]
    net.train(1)
    after = net.values()
    io.load_vars(net.exe, folder, net.main, vars=[net.main.global_block().var("fc_0.w_0")], filename="one")
    assert net.values() == after | {"fc_0.w_0": before["fc_0.w_0"]}
    io.load_params(net.exe, folder, net.main, filename="parameters")
    parameters = {p.name for p in io.get_program_parameter(net.main)}
    assert net.values() == after | {n: v for n, v in before.items() if n in parameters}
    io.load_persistables(net.exe, folder, net.main)
    assert net.values() == before
    assert {v.name for v in io.get_program_persistable_vars(net.main)} == set(before)
    assert {n: a.tobytes() for n, a in io.load_program_state(f"{folder}/__params__").items()} == before


def test_inference_models_of_version_1(net: Net, tmp_path: Path) -> None:
    io, folder = paddle.fluid.io, str(tmp_path / "model")
    expected = net.predict()
    assert io.save_inference_model(folder, ["x"], [net.out], net.exe, net.main) == [net.out.name]
    assert sorted(os.listdir(folder)) == ["__model__", "__params__"]
    with static.scope_guard(static.Scope()):
        program, feeds, fetches = io.load_inference_model(folder, net.exe)
        result = net.exe.run(program, feed={feeds[0]: FEED["x"]}, fetch_list=fetches)[0]
        np.testing.assert_array_equal(result, expected)
    with static.scope_guard(static.Scope()):
        named = static.load_inference_model(folder, net.exe, model_filename="__model__", params_filename="__params__")
        assert named[1] == feeds
    io.save_inference_model(str(tmp_path / "bare"), "x", [net.out], net.exe, net.main, program_only=True)
    assert os.listdir(tmp_path / "bare") == ["__model__"]


def test_a_program_read_as_json_is_the_one_in_the_container(net: Net, tmp_path: Path) -> None:
    static.save(net.main, str(tmp_path / "net"))
    assert json.loads(paddle.load(str(tmp_path / "net.pdmodel")).to_json()) == json.loads(net.main.to_json())
