"""Semantic roles in a sentence: agents, actions and their objects (Carreras and Màrquez 2005)."""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gradtool.paddle._local_files import located
from gradtool.paddle.io._datasets import Dataset

ADDRESS = "http://paddlemodels.bj.bcebos.com/conll05st"
FOLDER = "conll05st-release/test.wsj"
UNKNOWN = 0


class Conll05st(Dataset):
    """Sentences, once for each of their verbs: words, those around the verb, the verb, where these are, and roles.

    Args:
        data_file: the archive ``conll05st-tests.tar.gz``; files of the user's data sets where None.
        word_dict_file, verb_dict_file, target_dict_file: a word, verb or role a line.
        emb_file: where vectors of the words are.
        download: accepted for compatibility; nothing is downloaded.

    Raises:
        FileMissing: a file is not there (a FileNotFoundError); the hint says where to put it.
    """

    def __init__(
        self,
        data_file: str | None = None,
        word_dict_file: str | None = None,
        verb_dict_file: str | None = None,
        target_dict_file: str | None = None,
        emb_file: str | None = None,
        download: bool = True,
    ) -> None:
        archive = located(data_file, "conll05st", f"{ADDRESS}/conll05st-tests.tar.gz")
        words, verbs, targets = (
            located(path, "conll05st", f"{ADDRESS}%2F{name}")
            for path, name in (
                (word_dict_file, "wordDict.txt"),
                (verb_dict_file, "verbDict.txt"),
                (target_dict_file, "targetDict.txt"),
            )
        )
        self.word_dict, self.predicate_dict = _numbered(words), _numbered(verbs)
        self.label_dict = _labels(targets)
        self._emb_file = emb_file
        self.sentences: list[list[str]] = []
        self.predicates: list[str] = []
        self.labels: list[list[str]] = []
        for sentence, predicate, labels in _annotated(archive):
            self.sentences.append(sentence)
            self.predicates.append(predicate)
            self.labels.append(labels)

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        sentence, labels = self.sentences[idx], self.labels[idx]
        length, verb = len(sentence), labels.index("B-V")
        mark = [0] * length
        around = []
        for offset in (-2, -1, 0, 1, 2):
            place = verb + offset
            if 0 <= place < length:
                mark[place] = 1
                around.append(sentence[place])
            else:
                around.append("bos" if offset < 0 else "eos")
        columns = [[self.word_dict.get(w, UNKNOWN) for w in sentence]]
        columns += [[self.word_dict.get(w, UNKNOWN)] * length for w in around]
        columns.append([self.predicate_dict[self.predicates[idx]]] * length)
        columns += [mark, [self.label_dict[label] for label in labels]]
        return tuple(np.array(column) for column in columns)

    def __len__(self) -> int:
        return len(self.sentences)

    def get_dict(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        """The numbers of words, verbs and roles."""
        return self.word_dict, self.predicate_dict, self.label_dict

    def get_embedding(self) -> str:
        """The path of the file with vectors of the words."""
        return str(located(self._emb_file, "conll05st", f"{ADDRESS}%2Femb"))


def _numbered(path: Path) -> dict[str, int]:
    return {line.strip(): i for i, line in enumerate(path.read_text(encoding="utf-8").splitlines())}


def _labels(path: Path) -> dict[str, int]:
    """The beginning and the inside of every role, then what has none."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    tags = sorted({line[2:] for line in lines if line.startswith(("B-", "I-"))})
    numbers = {f"{place}-{tag}": 2 * i + j for i, tag in enumerate(tags) for j, place in enumerate("BI")}
    return {**numbers, "O": len(numbers)}


def _annotated(path: Path) -> Iterator[tuple[list[str], str, list[str]]]:
    """Every sentence with each of its verbs and the roles for it."""
    with tarfile.open(path) as archive:
        texts = []
        for name in ("words", "props"):
            file = archive.extractfile(f"{FOLDER}/{name}/test.wsj.{name}.gz")
            assert file is not None
            texts.append(gzip.decompress(file.read()).decode("utf-8").splitlines())
    sentence: list[str] = []
    columns: list[list[str]] = []
    for word, props in zip(*texts, strict=False):
        if word.strip():
            sentence.append(word.strip())
            columns.append(props.strip().split())
            continue
        yield from _of_verbs(sentence, columns)
        sentence, columns = [], []
    yield from _of_verbs(sentence, columns)


def _of_verbs(sentence: list[str], rows: list[list[str]]) -> Iterator[tuple[list[str], str, list[str]]]:
    verbs = [row[0] for row in rows if row and row[0] != "-"]
    for i, verb in enumerate(verbs):
        yield sentence, verb, _spread([row[i + 1] for row in rows])


def _spread(marks: list[str]) -> list[str]:
    """``(A0*``, ``*``, ``*)`` as ``B-A0``, ``I-A0``, ``I-A0``."""
    labels, role = [], None
    for mark in marks:
        if mark.startswith("("):
            role = mark[1 : mark.index("*")]
            labels.append(f"B-{role}")
        else:
            labels.append("O" if role is None else f"I-{role}")
        if mark.endswith(")"):
            role = None
    return labels
