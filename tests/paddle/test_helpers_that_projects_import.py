"""Helpers of Paddle that no ``__all__`` lists, and that public projects import all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle

pytestmark = pytest.mark.usefixtures("dynamic")


def test_addresses_and_files(tmp_path: Path) -> None:
    from gradtool.paddle.utils.download import _get_unique_endpoints, _map_path, _md5check, is_url

    assert [is_url(text) for text in ("http://a.b", "https://a.b/c", "/a/b", "ftp://a")] == [True, True, False, False]
    assert _map_path("http://a.b/c.tar", "root") == "root/c.tar"
    file = tmp_path / "f"
    file.write_bytes(b"abc")
    sums = (None, "900150983cd24fb0d6963f7d28e17f72", "0")
    assert [_md5check(str(file), md5) for md5 in sums] == [True, True, False]
    assert _get_unique_endpoints(["b:2", "a:1", "b:1"]) == {"a:1", "b:1"}


def test_the_state_of_mixed_precision() -> None:
    from gradtool.paddle.amp.auto_cast import amp_state

    assert amp_state() is None
    with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
        outer = amp_state()
        with paddle.amp.auto_cast(enable=False):
            assert amp_state()["enable"] is False  # type: ignore[index]
        assert amp_state() is outer
        assert (outer["level"], outer["dtype"], outer["enable"]) == ("O2", "bfloat16", True)  # type: ignore[index]
    assert amp_state() is None


def test_programs_have_the_classic_form() -> None:
    assert paddle.framework.use_pir_api() is paddle.base.framework.use_pir_api() is False


@pytest.mark.parametrize("shape", [[4, 2], [2, 3, 2]])
def test_rows_are_shuffled_whole_and_gradients_go_back(shape: list[int]) -> None:
    count = int(np.prod(shape))
    x = paddle.arange(float(count)).reshape(shape)
    x.stop_gradient = False
    out = paddle.incubate.layers.nn.shuffle_batch(x, seed=3)
    assert out.tolist() == paddle.incubate.layers.shuffle_batch(x, seed=3).tolist()
    rows: Any = out.reshape([-1, 2]).tolist()
    assert sorted(rows) == x.reshape([-1, 2]).tolist() != rows
    (out * out).sum().backward()
    assert x.grad.tolist() == (2 * x).tolist()


def test_columns_of_several_matrices() -> None:
    a, b = paddle.arange(6.0).reshape([2, 3]), paddle.arange(6.0, 12.0).reshape([2, 3])
    layers = paddle.incubate.layers.nn
    assert layers.partial_concat([a, b], start_index=0, length=2).tolist() == [[0, 1, 6, 7], [3, 4, 9, 10]]
    assert layers.partial_sum([a, b], start_index=1).tolist() == [[8, 10], [14, 16]]


def test_given_values_of_another_shape_make_a_parameter_of_that_shape() -> None:
    start = paddle.nn.initializer.Assign(np.arange(6.0))
    layer = paddle.nn.Linear(2, 3, weight_attr=paddle.ParamAttr(initializer=start))
    assert (layer.weight.shape, layer.weight.tolist()) == ([6], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    start(layer.bias)
    assert layer.bias.shape == [6]
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        paddle.static.nn.fc(paddle.static.data("x", [1, 2]), 3, weight_attr=paddle.ParamAttr("w", initializer=start))
    assert (main.global_block().var("w").shape, startup.global_block().var("w").shape) == ((2, 3), (6,))


def test_initializers_as_functions() -> None:
    init, x = paddle.nn.init, paddle.empty([3, 3])
    assert init.constant_(x, 2.0) is x
    assert x.tolist() == [[2.0] * 3] * 3
    assert init.eye_(x).tolist() == np.eye(3).tolist()
    assert np.allclose(init.orthogonal_(x).numpy() @ x.numpy().T, np.eye(3), atol=1e-6)
    assert abs(init.trunc_normal_(paddle.empty([99]), std=0.5).numpy()).max() <= 1.0
    for fill in (init.kaiming_uniform_, init.kaiming_normal_, init.xavier_uniform_, init.xavier_normal_):
        assert paddle.isfinite(fill(x)).all()
    assert init.zeros_(x).sum() == 0 != init.ones_(x).sum()


def test_states_of_recurrent_networks() -> None:
    from gradtool.paddle.nn.layer.rnn import concat_states, split_states

    h, c = paddle.rand([4, 2, 3]), paddle.rand([4, 2, 3])
    for both in (False, True):
        assert concat_states(split_states(h, both), both).tolist() == h.tolist()
        parts = split_states((h, c), both, 2)
        assert [t.tolist() for t in concat_states(parts, both, 2)] == [h.tolist(), c.tolist()]
    assert split_states((h, c), True, 2)[1][0][1].tolist() == c[2].tolist()


def test_lists_of_models() -> None:
    from gradtool.paddle.hapi.model import (
        _all_gather,
        extract_args,
        flatten_list,
        restore_flatten_list,
        to_list,
        to_numpy,
    )

    assert [to_list(v) for v in (None, 1, (1, 2))] == [None, [1], [1, 2]]
    flat, counts = flatten_list([[1, 2], [], [3]])
    assert (flat, counts, restore_flatten_list(flat, counts)) == ([1, 2, 3], [2, 0, 1], [[1, 2], [], [3]])
    assert extract_args(lambda a, b=1: a) == ["a", "b"]
    assert to_numpy(paddle.ones([2])).tolist() == _all_gather(paddle.ones([2])).tolist() == [1.0, 1.0]


def test_bits_of_bfloat16() -> None:
    from gradtool.paddle.base.data_feeder import convert_float_to_uint16, convert_uint16_to_float

    bits = convert_float_to_uint16(np.array([1.0, -2.5, 1.00390625], "float32"))
    assert bits.tolist() == [16256, 49184, 16256]  # Paddle cuts the lower half off
    assert convert_uint16_to_float(bits).tolist() == [1.0, -2.5, 1.0]


def test_gradients_that_are_clipped_by_hand() -> None:
    from gradtool.paddle.nn.clip import _squared_l2_norm, clip_by_norm

    x = paddle.to_tensor([3.0, 4.0])
    assert clip_by_norm(x, 1.0).tolist() == pytest.approx([0.6, 0.8])
    assert float(_squared_l2_norm(x)) == 25.0


def test_files_of_a_folder(tmp_path: Path) -> None:
    from gradtool.paddle.vision.datasets.folder import IMG_EXTENSIONS, has_valid_extension, make_dataset

    for name in ("a/1.PNG", "a/2.txt", "b/3.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert has_valid_extension("x.JPG", IMG_EXTENSIONS)
    found = make_dataset(str(tmp_path), {"a": 0, "b": 1, "c": 2}, IMG_EXTENSIONS)
    assert found == [(f"{tmp_path}/a/1.PNG", 0), (f"{tmp_path}/b/3.jpg", 1)]
    assert make_dataset(str(tmp_path), {"a": 7}, None, lambda path: path.endswith("txt")) == [
        (f"{tmp_path}/a/2.txt", 7)
    ]


def test_backends_of_transforms_are_their_functions() -> None:
    from gradtool.paddle.vision.transforms import functional, functional_cv2, functional_pil

    assert functional_pil.hflip is functional_cv2.hflip is functional.hflip
