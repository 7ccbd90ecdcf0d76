"""``paddle.save`` and ``paddle.load``: nested objects, state dicts, and files that are not what they should be."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections import OrderedDict, namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, FileFormatError, UnsupportedError, UsageError
from gradtool.engine.core.spec import DTYPES
from gradtool.engine.files import container

pytestmark = pytest.mark.usefixtures("dynamic")


def saved(value: Any) -> bytes:
    file = io.BytesIO()
    paddle.save(value, file)
    return file.getvalue()


def back(value: Any, **options: Any) -> Any:
    return paddle.load(io.BytesIO(saved(value)), **options)


def holding(tree: Any, arrays: dict[str, Any] | None = None, **texts: str) -> io.BytesIO:
    """A file with this structure, as nobody would write it."""
    told = {"format": "gradtool/state/1", "structure": json.dumps(tree)} | texts
    contents = {n: np.asarray(a) for n, a in (arrays or {}).items()}
    return io.BytesIO(b"".join(container.pieces(contents, told)))


# -- what goes in comes out -------------------------------------------------------------------------------------------

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.complex_numbers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(), inner, max_size=3)
        | st.dictionaries(st.integers() | st.text() | st.booleans() | st.tuples(st.integers(), st.text()), inner)
    ),
    max_leaves=10,
)


def typed(value: Any) -> Any:
    """*value* in a form whose equality sees types, the order of dicts and signs of zero."""
    if isinstance(value, dict):
        return [(typed(k), typed(v)) for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return (type(value), [typed(v) for v in value])
    return (type(value), repr(value))


@settings(suppress_health_check=[HealthCheck.too_slow])  # how fast the machine is does not matter
@given(PLAIN)
def test_plain_objects_come_back_as_they_were(value: Any) -> None:
    assert typed(back(value)) == typed(value)


@pytest.mark.parametrize("dtype", [d.name for d in DTYPES if d.numpy is not None])
def test_tensors_keep_their_dtype_shape_and_values(dtype: str) -> None:
    for array in (np.arange(6).reshape(2, 3), np.array(1), np.ones((0, 3))):
        tensor = paddle.to_tensor(array).astype(dtype)
        again = back({"t": tensor})["t"]
        assert isinstance(again, paddle.Tensor)
        assert again.dtype is tensor.dtype
        assert again.numpy().tobytes() == tensor.numpy().tobytes()
        assert again.shape == tensor.shape


def test_tensors_arrays_and_numbers_stay_what_they_are() -> None:
    parameter = paddle.create_parameter([2], "float32", name="mine")
    loaded = back(
        [parameter, np.ones(2, np.uint32), np.float16(3), np.True_, paddle.to_tensor(2.0, stop_gradient=False)]
    )
    assert isinstance(loaded[0], paddle.Tensor)
    assert (loaded[0].name, loaded[0].stop_gradient) == ("mine", True)
    assert isinstance(loaded[1], np.ndarray)
    assert loaded[1].dtype == np.uint32
    assert type(loaded[2]) is np.float16
    assert type(loaded[3]) is np.bool_
    assert loaded[4].stop_gradient
    loaded[0].set_value(np.zeros(2, np.float32))
    assert parameter.numpy().any()


def test_sparse_gradients_stay_sparse() -> None:
    table = paddle.nn.Embedding(1000, 3, sparse=True)
    table(paddle.to_tensor([7, 2, 7])).sum().backward()
    grad = table.weight.grad
    assert grad.is_selected_rows()
    assert len(saved(grad)) < 1000
    pair = back([grad, grad])
    assert pair[0] is pair[1]
    assert pair[0].is_selected_rows()
    assert (pair[0].rows, pair[0].shape) == (grad.rows, grad.shape)
    np.testing.assert_array_equal(pair[0].numpy(), grad.numpy())
    np.testing.assert_array_equal(np.asarray(back(grad, return_numpy=True)), grad.numpy())


def test_what_was_shared_is_shared_again_and_stored_once() -> None:
    tensor, array = paddle.ones([1000]), np.ones(1000)
    data = saved([tensor, {"again": tensor}, array, array])
    assert len(data) < 4000 + 8000 + 1000
    first, second, third, fourth = paddle.load(io.BytesIO(data))
    assert first is second["again"]
    assert third is fourth


def test_return_numpy_gives_arrays() -> None:
    content = back({"t": paddle.ones([2]), "n": [1]}, return_numpy=True)
    assert type(content["t"]) is np.ndarray
    assert content["n"] == [1]


def test_state_of_a_layer_and_its_optimizer_goes_on_bit_for_bit(tmp_path: Path) -> None:
    def parts() -> tuple[Any, Any, Any]:
        with paddle.utils.unique_name.guard():  # as in a process of its own
            layer = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4), paddle.nn.Linear(4, 1))
        schedule = paddle.optimizer.lr.LinearWarmup(paddle.optimizer.lr.StepDecay(0.1, 2), 3, 0.0, 0.1)
        return layer, paddle.optimizer.Adam(schedule, parameters=layer.parameters()), schedule

    def train(layer: Any, optimizer: Any, schedule: Any, steps: int) -> list[float]:
        losses = []
        for step in range(steps):
            x = paddle.to_tensor(np.cos(np.arange(12) + step).reshape(4, 3).astype("float32"))
            loss = (layer(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            schedule.step()
            losses.append(loss.item())
        return losses

    layer, optimizer, schedule = parts()
    train(layer, optimizer, schedule, 3)
    path = str(tmp_path / "new" / "folder" / "checkpoint.pdparams")
    paddle.save({"layer": layer.state_dict(), "optimizer": optimizer.state_dict()}, path)
    expected = train(layer, optimizer, schedule, 4)

    again, other, rate = parts()
    state = paddle.load(path)
    assert again.set_state_dict(state["layer"]) == ([], [])
    other.set_state_dict(state["optimizer"])
    assert train(again, other, rate, 4) == expected


def test_a_dict_of_either_kind_comes_back_as_dict() -> None:
    content = back(OrderedDict(a=1, b=OrderedDict(c=2)))
    assert type(content) is dict
    assert type(content["b"]) is dict


def test_names_that_paths_would_fear_are_only_names(tmp_path: Path) -> None:
    state = {"../../x": paddle.ones([1]), "/etc/x": paddle.zeros([1]), "": np.ones(1), "__metadata__": np.zeros(1)}
    paddle.save(state, str(tmp_path / "state"))
    assert list(paddle.load(str(tmp_path / "state"))) == list(state)
    assert os.listdir(tmp_path) == ["state"]


def test_equal_paths_of_different_values_do_not_meet() -> None:
    content = back({"a": {"b": np.zeros(1)}, "a.b": np.ones(1), 1: np.full(1, 2.0), "1": np.full(1, 3.0)})
    assert (content["a"]["b"][0], content["a.b"][0], content[1][0], content["1"][0]) == (0, 1, 2, 3)


def test_a_safetensors_file_made_elsewhere_gives_tensors_by_name() -> None:
    data = b"".join(container.pieces({"w": np.ones(2, np.float32)}, {"format": "pt"}))
    content = paddle.load(io.BytesIO(data))
    assert list(content) == ["w"]
    assert isinstance(content["w"], paddle.Tensor)


def test_values_of_a_static_program_go_both_ways() -> None:
    paddle.enable_static()
    with paddle.static.scope_guard(paddle.static.Scope()):
        weight = paddle.static.create_parameter([2], "float32", name="w")
        paddle.static.Executor().run(paddle.static.default_startup_program())
        program = paddle.static.default_main_program()
        data, before = saved(program.state_dict()), np.array(weight.get_value())
        weight.set_value(np.zeros(2, np.float32))
        program.set_state_dict(paddle.load(io.BytesIO(data)))
        np.testing.assert_array_equal(np.array(weight.get_value()), before)
    paddle.disable_static()
    assert isinstance(paddle.load(io.BytesIO(data))["w"], paddle.Tensor)


def test_two_runs_write_the_same_bytes() -> None:
    state = {"w": paddle.ones([2]), "rates": (0.1, float("nan"))}
    state["w"].name = "w"
    assert saved(state) == saved(state)


# -- what cannot be saved ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "about"),
    [
        ({"a": [object()]}, r"builtins\.object at 'a\.0'"),
        ({"f": len}, "builtin_function_or_method at 'f'"),
        ({1, 2}, r"builtins\.set"),
        (b"bytes", r"builtins\.bytes"),
        (namedtuple("Pair", "a b")(1, 2), r"Pair.*\n  hint  convert it to a plain tuple"),
        (np.array(["text"]), "elements of type <U4"),
        (np.array([None]), "elements of type object"),
        (np.ma.masked_array([1.0], [True]), "type MaskedArray"),
        ({(1, object()): 2}, "object"),
        (paddle.optimizer.lr.StepDecay(0.1, 3), r"StepDecay.*\n  hint  save its state_dict\(\)"),
    ],
)
def test_what_is_no_data_is_refused_before_anything_is_written(value: Any, about: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match=f"(?s)paddle.save: .*{about}"):
        paddle.save(value, str(tmp_path / "folder" / "file"))
    assert os.listdir(tmp_path) == []


def test_a_static_variable_has_no_value() -> None:
    paddle.enable_static()
    with pytest.raises(ArgumentTypeError, match=r"save program\.state_dict\(\)"):
        saved([paddle.static.data("x", [1])])


def test_what_contains_itself_or_is_too_deep() -> None:
    inside: list[Any] = []
    inside.append(inside)
    with pytest.raises(UsageError, match="more than 64 levels deep, or contains itself"):
        saved(inside)
    deep: Any = 1
    for _ in range(64):
        deep = [deep]
    assert back(deep) == deep
    with pytest.raises(UsageError, match="more than 64 levels"):
        saved([deep])


def test_arguments() -> None:
    value = paddle.ones([1])
    with pytest.raises(ValueError, match=r"paddle do not support saving `paddle\.nn\.Layer` object"):
        paddle.save(paddle.nn.Linear(1, 1), io.BytesIO())
    with pytest.raises(ValueError, match="Expected 1<'protocol'<5, but received protocol=1"):
        paddle.save(value, io.BytesIO(), protocol=1)
    with pytest.raises(ValueError, match="The 'protocol' MUST be `int`"):
        paddle.save(value, io.BytesIO(), protocol="4")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="filename is empty string"):
        paddle.save(value, "folder/")
    with pytest.raises(ValueError, match="only supports saving objects to file and `BytesIO`"):
        paddle.save(value, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="only supports loading objects"):
        paddle.load(3)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="use_binary_format"):
        paddle.save(value, io.BytesIO(), use_binary_format=True)
    with pytest.raises(ValueError, match="no such file"):
        paddle.load("nothing/here")
    with pytest.raises(OSError, match=r"Not a directory|File exists"):
        paddle.save(value, f"{os.devnull}/file")


# -- files that are not what they should be ---------------------------------------------------------------------------

SPARSE = {"selected_rows": ["r", "v"], "height": 5, "name": "g"}
ROWS = {"r": [4, 2], "v": np.ones((2, 3))}


@pytest.mark.parametrize(
    ("file", "about"),
    [
        (holding(1, format="gradtool/state/2"), r"expected format gradtool/state/1, but it is 'gradtool/state/2'"),
        (holding({"pickle": "x"}), "one of float, .*, program, but the structure has an object with"),
        (holding({}), "the structure has an object with"),
        (holding({"float": "1e400"}), "nan, inf or -inf"),
        (holding({"float": ["nan"]}), "nan, inf or -inf"),
        (holding({"complex": [1.0]}), "real and imaginary part"),
        (holding({"complex": [1, "2"]}), "real and imaginary part"),
        (holding({"tuple": 3}), "entries of a tuple"),
        (holding({"dict": [1]}), "entries of a dict"),
        (holding({"items": {"a": 1}}), "keys and values of a dict"),
        (holding({"items": [[1]]}), "keys and values of a dict"),
        (holding({"items": [[[1], 2]]}), "keys that a dict can have"),
        (holding({"items": [[1, 2], [True, 3]]}), "keys that differ"),
        (holding({"array": "a"}), "the name of an array, but there is 'a'"),
        (holding({"array": ["a"]}), "the name of an array"),
        (holding({"scalar": "a"}, {"a": [1, 2]}), "to be one number"),
        (holding({"tensor": "a", "name": 3}, {"a": [1]}), "name and data type of a tensor"),
        (holding({"tensor": "a", "name": "a"}, {"a": np.ones(1, np.uint16)}), "name and data type of a tensor"),
        (holding(SPARSE | {"selected_rows": "rv"}, ROWS), "indices and values of selected rows"),
        (holding(SPARSE | {"selected_rows": ["v", "r"]}, ROWS), "indices and values of selected rows"),
        (holding(SPARSE | {"selected_rows": ["r", "x"]}, ROWS), "the name of an array"),
        (holding(SPARSE | {"height": 2}, ROWS), "rows within the height of their table, but it is 2"),
        (holding(SPARSE | {"height": True}, ROWS), "rows within the height of their table"),
        (holding(SPARSE | {"height": 2**80}, ROWS), "rows within the height of their table"),
        (holding(SPARSE | {"name": None}, ROWS), "name and data type of a tensor"),
        (holding({"program": "a"}, {"a": [1]}), "to hold a text"),
        (holding({"program": "a"}, {"a": np.frombuffer(b"[1]", np.uint8)}), r"\(program\): expected a program"),
        (holding({"program": "a"}, {"a": np.frombuffer(b"\xff", np.uint8)}), r"\(program\): expected JSON"),
        (holding(0, structure="["), r"\(structure\): expected JSON"),
        (holding(0, structure="[" * 66 + "]" * 66), "at most 64 levels"),
        (holding(0, structure="[" * 9999 + "]" * 9999), "nested too deeply"),
        (io.BytesIO(b"".join(container.pieces({}, {"format": "gradtool/state/1"}))), "a text called structure"),
    ],
)
def test_a_structure_that_is_wrong_is_said(file: io.BytesIO, about: str) -> None:
    with pytest.raises(FileFormatError, match=about) as caught:
        paddle.load(file)
    assert str(caught.value).startswith("BytesIO")
    assert len(str(caught.value)) < 600


@given(st.data())
def test_a_damaged_file_loads_or_gives_the_one_error(data: st.DataObject) -> None:
    whole = saved({"w": np.ones((2, 3), np.float32), "t": (1, [2.5, None], {"k": np.int8(3)}), 5: float("inf")})
    at = data.draw(st.integers(0, len(whole) - 1))
    part = data.draw(st.binary(max_size=3))
    length = data.draw(st.integers(0, 3))
    with contextlib.suppress(FileFormatError):  # and nothing else
        paddle.load(io.BytesIO(whole[:at] + part + whole[at + length :]))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("length", range(400, 1400, 7))
def test_a_header_of_any_length_is_no_pickle(length: int) -> None:
    """That of 640 bytes begins as a pickle does, that of 896, too."""
    for value in ({"text": "x" * (length + i)} for i in range(7)):
        assert back(value) == value
