"""``paddle.audio.datasets``: recordings with labels, read from where they were unpacked."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.paddle import _lazy
from gradtool.paddle._local_files import unpacked
from gradtool.paddle.io._datasets import Dataset

from . import backends, features

__path__: list[str] = []  # there are modules below it, in the table of old paths
__all__ = ["ESC50", "TESS"]

FEATURES = {
    "raw": None,
    "melspectrogram": features.MelSpectrogram,
    "mfcc": features.MFCC,
    "logmelspectrogram": features.LogMelSpectrogram,
    "spectrogram": features.Spectrogram,
}


class SplitError(UsageError, AssertionError):
    """A part of a data set that there is not (Paddle raises AssertionError)."""


class AudioClassificationDataset(Dataset):
    """Recordings with labels: each item is a feature of one and its label.

    Args:
        files: paths of wave files, of one channel.
        labels: their numbers.
        feat_type: ``"raw"``, or one of ``paddle.audio.features`` in small letters, which *kwargs* are for.
        sample_rate: that of the files when None.

    Raises:
        ArgumentTypeError: no such feature (a RuntimeError in Paddle).
    """

    def __init__(
        self,
        files: Sequence[str | Path],
        labels: Sequence[int],
        feat_type: str = "raw",
        sample_rate: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if feat_type not in FEATURES:
            raise ArgumentTypeError(f"Unknown feat_type: {feat_type}, it must be one in {[*FEATURES]}")
        self.files, self.labels, self.feat_type, self.sample_rate = files, labels, feat_type, sample_rate
        self.feat_config = kwargs
        self._extractors: dict[int, Any] = {}

    def __getitem__(self, idx: int) -> tuple[Any, int]:
        wave, rate = backends.load(self.files[idx])
        wave = wave.squeeze(0)
        maker: Any = FEATURES[self.feat_type]
        if maker is None:
            return wave, self.labels[idx]
        rate = self.sample_rate or rate
        if rate not in self._extractors:
            settings = {} if self.feat_type == "spectrogram" else {"sr": rate}
            self._extractors[rate] = maker(**settings, **self.feat_config)
        return self._extractors[rate](wave.unsqueeze(0)).squeeze(0), self.labels[idx]

    def __len__(self) -> int:
        return len(self.files)


class ESC50(AudioClassificationDataset):
    """2000 recordings of 50 kinds of environmental sounds, in five folds (Piczak 2015).

    Args:
        mode: ``"train"`` for all folds but one, ``"dev"`` for that.
        split: which fold.
        feat_type, archive: as in Paddle; nothing is downloaded.

    Raises:
        FileMissing: it was not unpacked where it is looked for (a FileNotFoundError); the hint says where that is.
        SplitError: another mode (an AssertionError).
    """

    archive: ClassVar[dict[str, str]] = {"url": "https://paddleaudio.bj.bcebos.com/datasets/ESC-50-master.zip"}
    meta = "ESC-50-master/meta/esc50.csv"
    audio_path = "ESC-50-master/audio"

    class meta_info(NamedTuple):
        """A row of the table."""

        filename: str
        fold: str
        target: str
        category: str
        esc10: str
        src_file: str
        take: str

    def __init__(
        self,
        mode: str = "train",
        split: int = 1,
        feat_type: str = "raw",
        archive: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        _check_mode(mode)
        folder = unpacked("ESC-50-master", (archive or self.archive)["url"])
        with open(folder.parent / self.meta, encoding="utf-8", newline="") as table:
            rows = [self.meta_info(*row) for row in [*csv.reader(table)][1:]]
        chosen = [row for row in rows if (int(row.fold) == split) is (mode != "train")]
        files = [folder.parent / self.audio_path / row.filename for row in chosen]
        super().__init__(files, [int(row.target) for row in chosen], feat_type, **kwargs)


class TESS(AudioClassificationDataset):
    """2800 words spoken with seven emotions, the third part of a file's name (Pichora-Fuller and Dupuis 2020).

    Args:
        mode: ``"train"`` for all folds but one, ``"dev"`` for that.
        n_folds, split: how many folds, which take turns, and which of them.
        feat_type, archive: as in Paddle; nothing is downloaded.

    Raises:
        FileMissing: it was not unpacked where it is looked for (a FileNotFoundError); the hint says where that is.
        SplitError: another mode, or a fold that there is not (an AssertionError).
    """

    archive: ClassVar[dict[str, str]] = {
        "url": "https://bj.bcebos.com/paddleaudio/datasets/TESS_Toronto_emotional_speech_set.zip"
    }
    label_list: ClassVar[list[str]] = ["angry", "disgust", "fear", "happy", "neutral", "ps", "sad"]
    audio_path = "TESS_Toronto_emotional_speech_set"

    class meta_info(NamedTuple):
        """The parts of a file's name."""

        speaker: str
        word: str
        emotion: str

    def __init__(
        self,
        mode: str = "train",
        n_folds: int = 5,
        split: int = 1,
        feat_type: str = "raw",
        archive: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        _check_mode(mode)
        if not (isinstance(n_folds, int) and n_folds >= 1 and split in range(1, n_folds + 1)):
            raise SplitError(f"The selected split should be an integer from 1 to {n_folds}, but received {split}.")
        folder = unpacked(self.audio_path, (archive or self.archive)["url"])
        waves = sorted(folder.rglob("*.wav"))
        chosen = [w for i, w in enumerate(waves) if (i % n_folds + 1 == split) is (mode != "train")]
        emotions = [self.meta_info(*w.stem.split("_")).emotion for w in chosen]
        super().__init__(chosen, [self.label_list.index(e) for e in emotions], feat_type, **kwargs)


def _check_mode(mode: str) -> None:
    if mode not in ("train", "dev"):
        raise SplitError(f"mode should be 'train' or 'dev', but received {mode!r}.")


__getattr__ = _lazy.refuse(__name__, globals())
