"""``paddle.signal``: what is refused, and what records do not show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.signal import frame, istft, overlap_add, stft


@pytest.fixture
def dynamic() -> Iterator[None]:
    paddle.disable_static()
    yield
    paddle.enable_static()


WAVE = "paddle.arange(10, dtype='float32')"
ROWS = "paddle.ones([2, 10])"
PARTS = "paddle.ones([2, 5, 4], dtype='complex64')"
REFUSED = {
    f"frame({ROWS}, 4, 2, axis=1)": (ValueError, "Unexpected axis: 1. It should be 0 or -1."),
    f"frame({WAVE}, 11, 2)": (ValueError, "frame_length should be less equal than sequence length, but got (11)"),
    f"frame({WAVE}, 4, 0)": (ValueError, "Unexpected hop_length: 0. It should be an positive integer."),
    f"frame({WAVE}, 4.5, 2)": (ValueError, "Unexpected frame_length: 4.5. It should be an positive integer."),
    f"overlap_add({ROWS}, 5)": (ValueError, "(InvalidArgument)"),
    f"overlap_add({WAVE}, 2)": (ValueError, "(InvalidArgument)"),
    f"stft({ROWS}, 5, 2, 3, paddle.ones([4]))": (AssertionError, "expected a 1D window tensor of size equal to win_"),
    f"stft({ROWS}, 3)": (AssertionError, "hop_length should be > 0, but got 0."),
    f"stft({ROWS}, 5, 2, 6)": (AssertionError, "win_length should be in (0, n_fft(5)], but got 6."),
    f"stft({ROWS}.unsqueeze(0), 4)": (AssertionError, "x should be a 1D or 2D real tensor, but got rank of x is 3"),
    f"stft({ROWS}.astype('complex64'), 4, onesided=True)": (AssertionError, "onesided should be False when input or"),
    f"stft({ROWS}, 4, pad_mode='replicate')": (AssertionError, 'pad_mode should be "reflect" or "constant", but got'),
    f"stft({ROWS}, 12)": (AssertionError, "n_fft should be in (0, seq_length(10)], but got 12."),
    f"istft({PARTS}, 6)": (AssertionError, "fft_size should be equal to n_fft // 2 + 1(4) when onesided is True"),
    f"istft({PARTS}, 6, onesided=False)": (AssertionError, "fft_size should be equal to n_fft(6) when onesided is"),
    f"istft({PARTS}, 8, return_complex=True)": (AssertionError, "onesided should be False when input(output of istft)"),
    f"istft({PARTS}, 8, window=paddle.zeros([8]))": (ValueError, "Nonzero Overlap Add (NOLA) condition failed"),
    f"istft({PARTS}, 8, 9)": (AssertionError, "hop_length should be in (0, win_length(8)], but got 9."),
    f"istft({PARTS}, 8, 3, 9)": (AssertionError, "win_length should be in (0, n_fft(8)], but got 9."),
    f"istft({PARTS}, 8, window=paddle.ones([8], 'complex64'))": (AssertionError, "window should not be complex when"),
    f"istft({PARTS}[0, 0], 8)": (AssertionError, "x should be a 2D or 3D complex tensor, but got rank of x is 1"),
}


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("call", REFUSED)
def test_what_paddle_refuses_is_refused_in_its_words(call: str) -> None:
    kind, words = REFUSED[call]
    names = {"paddle": paddle, "frame": frame, "overlap_add": overlap_add, "stft": stft, "istft": istft}
    with pytest.raises(kind) as caught:
        eval(call, names)
    assert words in str(caught.value)


@pytest.mark.usefixtures("dynamic")
def test_an_odd_number_of_elements_comes_back() -> None:
    x = paddle.to_tensor(np.random.default_rng(0).normal(size=(2, 20)), stop_gradient=False)
    back = istft(stft(x, 5, 2), 5, 2)
    np.testing.assert_allclose(back.numpy(), x.numpy()[:, : back.shape[1]], atol=1e-12)
    back.square().sum().backward()
    np.testing.assert_allclose(x.grad.numpy()[:, :18], 2 * x.numpy()[:, :18], atol=1e-12)


def test_lengths_that_are_not_known_yet() -> None:
    def build(size: int) -> Any:
        x = paddle.static.data(f"x{size}", [-1, size], "float64")
        x.stop_gradient = False
        parts = stft(x, 4, 2)
        back = istft(parts, 4, 2)
        (g,) = paddle.static.gradients([back.square().sum()], [x])
        fed = np.random.default_rng(0).normal(size=(3, 8))
        return parts, paddle.static.Executor().run(feed={x.name: fed}, fetch_list=[parts, back, g])

    open_parts, open_values = build(-1)
    parts, values = build(8)
    assert (open_parts.shape, parts.shape) == ((-1, 3, -1), (-1, 3, 5))
    for mine, expected in zip(open_values, values, strict=True):
        np.testing.assert_array_equal(mine, expected)
