"""``paddle.audio``: windows, scales, features and wave files, with numbers that Paddle 3.3.1 gave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import audio
from gradtool.paddle.audio import backends, datasets, features, functional

pytestmark = pytest.mark.usefixtures("dynamic")

WINDOWS: list[tuple[Any, list[float]]] = [
    ("hamming", [0.08, 0.31, 0.77, 1.0, 0.77, 0.31]),
    ("hann", [0.0, 0.25, 0.75, 1.0, 0.75, 0.25]),
    (("gaussian", 7), [0.91225, 0.96001, 0.98985, 1.0, 0.98985, 0.96001]),
    (("general_gaussian", 1.5, 7), [0.96141, 0.98841, 0.99854, 1.0, 0.99854, 0.98841]),
    (("exponential", None, 1.0), [0.04979, 0.13534, 0.36788, 1.0, 0.36788, 0.13534]),
    ("triang", [0.25, 0.5, 0.75, 1.0, 0.75, 0.5]),
    ("bohman", [0.0, 0.109, 0.609, 1.0, 0.609, 0.109]),
    ("blackman", [0.0, 0.13, 0.63, 1.0, 0.63, 0.13]),
    ("cosine", [0.22252, 0.62349, 0.90097, 1.0, 0.90097, 0.62349]),
    (("tukey", 0.5), [0.0, 0.75, 1.0, 1.0, 1.0, 0.75]),
    ("taylor", [0.2901, 0.57821, 0.87801, 1.0, 0.87801, 0.57821]),
    (("kaiser", 5.0), [0.03671, 0.3282, 0.77532, 1.0, 0.77532, 0.3282]),
    ("nuttall", [0.00036, 0.06133, 0.52923, 1.0, 0.52923, 0.06133]),
    (("general_hamming", 0.6), [0.2, 0.4, 0.8, 1.0, 0.8, 0.4]),
]


@pytest.mark.parametrize(("window", "values"), WINDOWS)
def test_windows_are_those_of_paddle(window: Any, values: list[float]) -> None:
    np.testing.assert_allclose(functional.get_window(window, 6).numpy(), values, atol=1e-5)


def test_windows_may_be_symmetric_and_are_refused_by_name() -> None:
    assert functional.get_window("hann", 5, False, "float32").numpy().tolist() == [0.0, 0.5, 1.0, 0.5, 0.0]
    with pytest.raises(ValueError, match="Unknown window type"):
        functional.get_window("boxcar", 3)
    with pytest.raises(ValueError, match="needs one or more parameters"):
        functional.get_window("kaiser", 3)


def test_scales_go_both_ways() -> None:
    got = [functional.hz_to_mel(440.0), functional.hz_to_mel(3000.0), functional.hz_to_mel(440.0, True)]
    np.testing.assert_allclose(got, [6.6, 30.979402, 549.638675], rtol=1e-6)
    got = [functional.mel_to_hz(10.0), functional.mel_to_hz(20.0), functional.mel_to_hz(500.0, True)]
    np.testing.assert_allclose(got, [666.666667, 1410.238568, 390.878211], rtol=1e-6)
    tensor = functional.hz_to_mel(paddle.to_tensor([100.0, 2000.0]))
    np.testing.assert_allclose(tensor.numpy(), [1.5, 25.08188], rtol=1e-6)
    np.testing.assert_allclose(functional.mel_frequencies(4).numpy(), [0.0, 1119.114, 3512.5816, 11025.0], rtol=1e-6)


@pytest.mark.parametrize(
    ("settings", "row"),
    [
        ({}, [0.0, 0.0, 0.00013977, 0.00126149, 0.00064534]),
        ({"norm": 2.0, "htk": True}, [0.0, 0.0, 0.25082526, 0.86383003, 0.43679413]),
        ({"norm": None}, [0.0, 0.0, 0.10683413, 0.96425438, 0.49328238]),
    ],
)
def test_banks_of_filters(settings: dict[str, Any], row: list[float]) -> None:
    bank = functional.compute_fbank_matrix(8000, 16, 4, **settings).numpy()
    np.testing.assert_allclose(bank[2, :5], row, atol=1e-6)


def test_decibels_and_cosines() -> None:
    x = paddle.to_tensor([[1e-12, 0.5], [2.0, 30.0]])
    np.testing.assert_allclose(
        functional.power_to_db(x).numpy(), [[-65.22879, -3.0103], [3.0103, 14.771213]], rtol=1e-5
    )
    got = functional.power_to_db(x, ref_value=2.0, top_db=None).numpy()
    np.testing.assert_allclose(got, [[-103.0103, -6.0206], [0.0, 11.760913]], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(functional.create_dct(3, 4).numpy()[0], [0.5, 0.65328145, 0.5], rtol=1e-5)
    np.testing.assert_allclose(functional.create_dct(3, 4, None).numpy()[0], [2.0, 1.847759, 1.4142135], rtol=1e-5)
    with pytest.raises(ValueError, match="amin must be strictly positive"):
        functional.power_to_db(x, amin=0.0)


# What layers make of a batch of two signals: shape, sum of the result, its beginning, sizes of the gradient's elements.
RECORDED: list[tuple[Any, list[int], float, list[float], float]] = [
    (lambda: features.Spectrogram(64, 16), [2, 33, 19], 1383.2, [9.523, 4.557, 0.114], 2006.97),
    (
        lambda: features.Spectrogram(64, None, 32, "hamming", 2.0, False),
        [2, 33, 15],
        6104.7,
        [0.112, 0.016, 0.002],
        15519.76,
    ),
    (
        lambda: features.MelSpectrogram(8000, 64, 16, n_mels=6, f_min=20.0),
        [2, 6, 19],
        38.2,
        [0.477, 0.734, 0.583],
        97.33,
    ),
    (
        lambda: features.LogMelSpectrogram(8000, 64, 16, n_mels=6, top_db=40.0),
        [2, 6, 19],
        -5534.5,
        [-3.232, -1.033, -1.74],
        3905.19,
    ),
    (lambda: features.MFCC(8000, 4, 64, 16, n_mels=6), [2, 4, 19], -3445.5, [-66.711, -72.97, -103.853], 30578.7),
]


@pytest.mark.parametrize(("make", "shape", "total", "begin", "slopes"), RECORDED)
def test_features_and_their_gradients(
    make: Any, shape: list[int], total: float, begin: list[float], slopes: float
) -> None:
    signal = np.sin(np.arange(600) ** 1.3 / 9.0).reshape(2, 300).astype("float32")
    x: Any = paddle.to_tensor(signal, stop_gradient=False)
    y = make()(x)
    y.sum().backward()
    assert list(y.shape) == shape
    np.testing.assert_allclose(y.sum().item(), total, rtol=1e-4, atol=0.06)
    np.testing.assert_allclose(y.numpy().ravel()[:3], begin, atol=2e-3)
    np.testing.assert_allclose(np.abs(x.grad.numpy()).sum(), slopes, rtol=1e-3)


def test_buffers_have_the_names_of_paddle() -> None:
    assert [*features.MFCC(8000, 4, 64, 16, n_mels=6).state_dict()] == [
        "dct_matrix",
        "_log_melspectrogram._melspectrogram.fbank_matrix",
        "_log_melspectrogram._melspectrogram._spectrogram.fft_window",
    ]


def test_wave_files_come_back(tmp_path: Path) -> None:
    file = str(tmp_path / "a.wav")
    audio.save(file, paddle.to_tensor(np.sin(np.arange(20) / 3.0).reshape(1, 20).astype("float32")), 8000)
    told = audio.info(file)
    assert (told.sample_rate, told.num_samples, told.num_channels, told.bits_per_sample) == (8000, 20, 1, 16)
    wave, rate = audio.load(file)
    assert (list(wave.shape), rate) == ([1, 20], 8000)
    np.testing.assert_allclose(wave.numpy()[0, :3], [0.0, 0.32717896, 0.61834717], rtol=1e-6)
    assert audio.load(file, normalize=False)[0].numpy()[0, :3].tolist() == [0.0, 10721.0, 20262.0]
    assert list(audio.load(file, frame_offset=3, num_frames=4, channels_first=False)[0].shape) == [4, 1]
    (tmp_path / "b.wav").write_bytes(b"abc")
    with pytest.raises(ValueError, match=r"b\.wav: expected a wave file of 16 bits"):
        audio.load(str(tmp_path / "b.wav"))
    with pytest.raises(FileNotFoundError):
        audio.load(str(tmp_path / "c.wav"))
    with pytest.raises(NotImplementedError, match="'soundfile' is not there"):
        backends.set_backend("soundfile")


def test_recordings_with_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="gradtool downloads nothing") as caught:
        datasets.ESC50()
    assert "ESC-50-master.zip and unpack it in" in str(caught.value)
    home = tmp_path / ".cache/paddle/dataset"
    for folder in ("ESC-50-master/meta", "ESC-50-master/audio", "TESS_Toronto_emotional_speech_set"):
        (home / folder).mkdir(parents=True)
    rows = ["filename,fold,target,category,esc10,src_file,take", "1.wav,1,7,x,False,1,A", "2.wav,2,9,x,False,1,A"]
    (home / datasets.ESC50.meta).write_text("\n".join(rows) + "\n")
    tone = paddle.to_tensor(np.sin(np.arange(64) / 3.0).reshape(1, 64).astype("float32"))
    for file in ("ESC-50-master/audio/1.wav", "ESC-50-master/audio/2.wav"):
        audio.save(str(home / file), tone, 8000)
    for word in ("back", "bar"):
        audio.save(str(home / f"TESS_Toronto_emotional_speech_set/OAF_{word}_happy.wav"), tone, 8000)
    train, dev = datasets.ESC50("train", split=1), datasets.ESC50("dev", split=1, feat_type="spectrogram", n_fft=16)
    assert (len(train), train[0][1], list(train[0][0].shape)) == (1, 9, [64])
    assert (dev[0][1], dev[0][0].shape[0]) == (7, 9)
    assert [label for _, label in datasets.TESS("train", n_folds=2, split=1)] == [3]
