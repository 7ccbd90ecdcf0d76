"""Sentences and their translations, words as numbers."""

from __future__ import annotations

import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gradtool.paddle._local_files import located
from gradtool.paddle.io._datasets import Dataset

from ._settings import SettingError, part

START, END, UNKNOWN = "<s>", "<e>", "<unk>"
LONGEST = 80
"""Longer sentences of WMT14 are left out."""


def _lines(path: Path, name: str, ending: bool = False) -> list[str]:
    """The lines of a file of an archive; with *ending* of all whose names end so."""
    lines: list[str] = []
    with tarfile.open(path) as archive:
        for member in archive:
            if member.name == name or (ending and member.name.endswith(name)):
                file = archive.extractfile(member)
                assert file is not None
                lines += file.read().decode("utf-8").split("\n")
    return [line for line in lines if line]


class _Pairs(Dataset):
    """Sentences, and their translations once after the start and once before the end."""

    src_ids: list[list[int]]
    trg_ids: list[list[int]]
    trg_ids_next: list[list[int]]

    def __getitem__(self, idx: int) -> tuple[Any, Any, Any]:
        return np.array(self.src_ids[idx]), np.array(self.trg_ids[idx]), np.array(self.trg_ids_next[idx])

    def __len__(self) -> int:
        return len(self.src_ids)


class WMT14(_Pairs):
    """French sentences in English (Bojar et al. 2014).

    Args:
        data_file: the archive ``wmt14.tgz``; that of the user's data sets when None.
        mode: ``"train"``, ``"test"`` or ``"gen"``.
        dict_size: how many words have a number of their own.
        download: accepted for compatibility; nothing is downloaded.

    Raises:
        FileMissing: the file is not there (a FileNotFoundError); the hint says where to put it.
        SettingError: another mode (an AssertionError).
        SettingError: no size (an AssertionError).
    """

    URL = "http://paddlemodels.bj.bcebos.com/wmt/wmt14.tgz"

    def __init__(
        self, data_file: str | None = None, mode: str = "train", dict_size: int = -1, download: bool = True
    ) -> None:
        self.mode = part(mode, "train", "test", "gen")
        if dict_size <= 0:
            raise SettingError("WMT14: dict_size must be given: how many words have a number of their own.")
        self.dict_size = dict_size
        path = located(data_file, "wmt14", self.URL)
        self.src_dict, self.trg_dict = (
            {word.strip(): i for i, word in enumerate(_lines(path, f"{side}.dict", ending=True)[:dict_size])}
            for side in ("src", "trg")
        )
        self.src_ids, self.trg_ids, self.trg_ids_next = [], [], []
        unknown = 2
        for line in _lines(path, f"{self.mode}/{self.mode}", ending=True):
            columns = line.strip().split("\t")
            if len(columns) != 2:
                continue
            source = [self.src_dict.get(w, unknown) for w in (START, *columns[0].split(), END)]
            target = [self.trg_dict.get(w, unknown) for w in columns[1].split()]
            if len(source) > LONGEST or len(target) > LONGEST:
                continue
            self.src_ids.append(source)
            self.trg_ids.append([self.trg_dict[START], *target])
            self.trg_ids_next.append([*target, self.trg_dict[END]])

    def get_dict(self, reverse: bool = False) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The numbers of the words of both languages, with *reverse* the words of the numbers."""
        if reverse:
            return {i: w for w, i in self.src_dict.items()}, {i: w for w, i in self.trg_dict.items()}
        return self.src_dict, self.trg_dict


class WMT16(_Pairs):
    """English and German sentences about pictures (Elliott et al. 2016).

    Each language has the words of its own sentences. (Paddle 3.3.1 takes those of the source for both when it writes
    its dictionaries, so that nearly every target is unknown.)

    Args:
        data_file: the archive ``wmt16.tar.gz``; that of the user's data sets when None.
        mode: ``"train"``, ``"test"`` or ``"val"``.
        src_dict_size, trg_dict_size: how many words have a number of their own, with start, end and unknown.
        lang: what is translated: ``"en"`` or ``"de"``.
        download: accepted for compatibility; nothing is downloaded.

    Raises:
        FileMissing: the file is not there (a FileNotFoundError); the hint says where to put it.
        SettingError: another mode or language (an AssertionError).
        SettingError: no sizes (an AssertionError).
    """

    URL = "http://paddlemodels.bj.bcebos.com/wmt/wmt16.tar.gz"

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        src_dict_size: int = -1,
        trg_dict_size: int = -1,
        lang: str = "en",
        download: bool = True,
    ) -> None:
        self.mode, self.lang = part(mode, "train", "test", "val"), part(lang, "en", "de")
        if src_dict_size <= 0 or trg_dict_size <= 0:
            raise SettingError("WMT16: src_dict_size and trg_dict_size must be given: how many words have a number.")
        path = located(data_file, "wmt16", self.URL)
        train = [*self._columns(path, "train")]
        source, target = (0, 1) if self.lang == "en" else (1, 0)
        self.src_dict_size, self.trg_dict_size = src_dict_size, trg_dict_size
        self.src_dict = self._dictionary(train, source, src_dict_size)
        self.trg_dict = self._dictionary(train, target, trg_dict_size)
        self.src_ids, self.trg_ids, self.trg_ids_next = [], [], []
        start, end, unknown = (self.src_dict[mark] for mark in (START, END, UNKNOWN))
        for columns in train if self.mode == "train" else self._columns(path, self.mode):
            words = [self.src_dict.get(w, unknown) for w in columns[source].split()]
            others = [self.trg_dict.get(w, unknown) for w in columns[target].split()]
            self.src_ids.append([start, *words, end])
            self.trg_ids.append([start, *others])
            self.trg_ids_next.append([*others, end])

    @staticmethod
    def _columns(path: Path, mode: str) -> Iterator[list[str]]:
        for line in _lines(path, f"wmt16/{mode}"):
            columns = line.strip().split("\t")
            if len(columns) == 2:
                yield columns

    @staticmethod
    def _dictionary(rows: list[list[str]], column: int, size: int) -> dict[str, int]:
        counts = Counter(word for row in rows for word in row[column].split())
        words = [w for w, _ in sorted(counts.items(), key=lambda pair: pair[1], reverse=True)]
        return {w: i for i, w in enumerate([START, END, UNKNOWN, *words[: size - 3]])}

    def get_dict(self, lang: str, reverse: bool = False) -> dict[Any, Any]:
        """The numbers of the words of a language, with *reverse* the words of the numbers."""
        words = self.src_dict if lang == self.lang else self.trg_dict
        return {i: w for w, i in words.items()} if reverse else words
