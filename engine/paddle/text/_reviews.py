"""Reviews of films, and sentences of a newspaper: words as numbers, the most frequent first."""

from __future__ import annotations

import re
import string
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gradtool.engine.core.errors import FileFormatError
from gradtool.paddle._local_files import located
from gradtool.paddle.io._datasets import Dataset

from ._settings import SettingError, by_frequency, part

START, END, UNKNOWN = "<s>", "<e>", "<unk>"
PUNCTUATION = string.punctuation.encode("latin-1")


class Imdb(Dataset):
    """Reviews of films as the numbers of their words, good ones (0) and bad ones (1) (Maas et al. 2011).

    Args:
        data_file: the archive ``aclImdb_v1.tar.gz``; that of the user's data sets when None.
        mode: ``"train"`` or ``"test"``.
        cutoff: words that occur more often have a number of their own.
        download: accepted for compatibility; nothing is downloaded.

    Raises:
        FileMissing: the file is not there (a FileNotFoundError); the hint says where to put it.
        SettingError: another mode (an AssertionError).
    """

    URL = "https://dataset.bj.bcebos.com/imdb%2FaclImdb_v1.tar.gz"

    def __init__(
        self, data_file: str | None = None, mode: str = "train", cutoff: int = 150, download: bool = True
    ) -> None:
        self.mode = part(mode, "train", "test")
        path = located(data_file, "imdb", self.URL)
        texts = dict(self._texts(path))
        counts = Counter(word for words in texts.values() for word in words)
        self.word_idx: dict[Any, int] = {w: i for i, w in enumerate(by_frequency(counts, cutoff))}
        unknown = self.word_idx[UNKNOWN] = len(self.word_idx)
        self.docs, self.labels = [], []
        for label, kind in enumerate(("pos", "neg")):
            for name, words in texts.items():
                if name.startswith(f"aclImdb/{self.mode}/{kind}/"):
                    self.docs.append([self.word_idx.get(w, unknown) for w in words])
                    self.labels.append(label)

    @staticmethod
    def _texts(path: Path) -> Iterator[tuple[str, list[bytes]]]:
        """The name of every review and its words, in the order of the archive."""
        wanted = re.compile(r"aclImdb/(train|test)/(pos|neg)/.*\.txt$")
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member) if wanted.match(member.name) else None
                if file is not None:
                    yield member.name, file.read().rstrip(b"\n\r").translate(None, PUNCTUATION).lower().split()

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        return np.array(self.docs[idx]), np.array([self.labels[idx]])

    def __len__(self) -> int:
        return len(self.docs)


class Imikolov(Dataset):
    """Sentences of a newspaper as the numbers of their words (Mikolov et al. 2010).

    Args:
        data_file: the archive ``simple-examples.tgz``; that of the user's data sets when None.
        data_type: ``"NGRAM"`` for *window_size* words in a row each, ``"SEQ"`` for sentences and the words that
            follow, of which those longer than *window_size* are left out where it is above 0.
        mode: ``"train"`` or ``"test"``.
        min_word_freq: words that occur more often have a number of their own.
        download: accepted for compatibility; nothing is downloaded.

    Raises:
        FileMissing: the file is not there (a FileNotFoundError); the hint says where to put it.
        FileFormatError: the archive lacks one of its files (a ValueError).
        SettingError: another mode or type (an AssertionError).
        SettingError: no length for ``"NGRAM"`` (an AssertionError).
    """

    URL = "https://dataset.bj.bcebos.com/imikolov%2Fsimple-examples.tgz"

    def __init__(
        self,
        data_file: str | None = None,
        data_type: str = "NGRAM",
        window_size: int = -1,
        mode: str = "train",
        min_word_freq: int = 50,
        download: bool = True,
    ) -> None:
        self.data_type = part(data_type, "ngram", "seq").upper()
        self.mode = part(mode, "train", "test")
        self.window_size, self.min_word_freq = window_size, min_word_freq
        path = located(data_file, "imikolov", self.URL)
        train, valid = self._lines(path, "train"), self._lines(path, "valid")
        # As in Paddle, marks are texts and words are bytes: an unknown word of the files is a word like others.
        counts: Counter[Any] = Counter(w for line in (*train, *valid) for w in (*line.split(), START, END))
        self.word_idx: dict[Any, int] = {w: i for i, w in enumerate(by_frequency(counts, min_word_freq))}
        self.word_idx[UNKNOWN] = len(self.word_idx)
        lines = train if self.mode == "train" else self._lines(path, "test")
        self.data = [entry for line in lines for entry in self._entries(line)]

    @staticmethod
    def _lines(path: Path, name: str) -> list[bytes]:
        with tarfile.open(path) as archive:
            try:
                file = archive.extractfile(f"./simple-examples/data/ptb.{name}.txt")
            except KeyError as error:
                raise FileFormatError(str(path), "the archive simple-examples.tgz", str(error)) from None
            assert file is not None
            return file.read().splitlines()

    def _entries(self, line: bytes) -> Iterator[tuple[Any, ...]]:
        unknown = self.word_idx[UNKNOWN]

        def numbers(words: list[Any]) -> list[int]:
            return [self.word_idx.get(w, unknown) for w in words]

        words = line.strip().split()
        if self.data_type == "NGRAM":
            if self.window_size < 0:
                raise SettingError("Imikolov: NGRAM needs a window_size: how many words are in a row.")
            ids = numbers([START, *words, END])
            for end in range(self.window_size, len(ids) + 1):
                yield tuple(ids[end - self.window_size : end])
            return
        source, target = numbers([START, *words]), numbers([*words, END])
        if not 0 < self.window_size < len(source):
            yield source, target

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        return tuple(np.array(d) for d in self.data[idx])

    def __len__(self) -> int:
        return len(self.data)
