"""``paddle.text``: decoding and data sets, with what Paddle 3.3.1 made of the same archives."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import text

pytestmark = pytest.mark.usefixtures("dynamic")


def archive(path: Path, **files: str | bytes) -> str:
    """A tar archive; ``__`` in names stands for a slash."""
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            member = tarfile.TarInfo(name.replace("__", "/"))
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return str(path)


def rows(dataset: Any) -> list[list[Any]]:
    return [[np.asarray(column).tolist() for column in dataset[i]] for i in range(len(dataset))]


def test_the_likeliest_tags() -> None:
    scores = paddle.to_tensor(np.random.RandomState(0).rand(3, 4, 5).astype("float32"))
    moves = paddle.to_tensor(np.random.RandomState(1).rand(5, 5).astype("float32"))
    lengths = paddle.to_tensor([4, 2, 3])
    best, path = text.ViterbiDecoder(moves)(scores, lengths)
    np.testing.assert_allclose(best.numpy(), [6.6745, 3.6163, 4.8247], rtol=1e-4)
    assert path.tolist() == [[1, 2, 3, 2], [1, 2, 0, 0], [4, 4, 0, 0]]
    best, path = text.viterbi_decode(scores, moves, lengths, False)
    np.testing.assert_allclose(best.numpy(), [5.2276, 2.2839, 3.4382], rtol=1e-4)
    assert path.tolist() == [[2, 3, 2, 3], [3, 2, 0, 0], [2, 3, 2, 0]]


def test_houses(tmp_path: Path) -> None:
    file = tmp_path / "housing.data"
    table = np.random.RandomState(0).rand(10, 14)
    np.savetxt(file, table)
    train, test = text.UCIHousing(str(file)), text.UCIHousing(str(file), "test")
    assert (len(train), len(test)) == (8, 2)
    inputs, price = test[1]
    scaled = (table - table.mean(0)) / (table.max(0) - table.min(0))
    np.testing.assert_allclose(inputs, scaled[9, :-1], rtol=1e-5)
    np.testing.assert_allclose(price, table[9, -1:], rtol=1e-6)
    with pytest.raises(AssertionError, match="mode should be 'train' or 'test', but got dev"):
        text.UCIHousing(str(file), "dev")
    file.write_text("1 2 3")
    with pytest.raises(ValueError, match="expected rows of 14 numbers"):
        text.UCIHousing(str(file))


def test_reviews(tmp_path: Path) -> None:
    file = archive(
        tmp_path / "imdb.tgz",
        **{
            "aclImdb/train/pos/1.txt": "Good, good film! the the",
            "aclImdb/train/neg/2.txt": "bad the film\n",
            "aclImdb/test/pos/3.txt": "the good",
            "aclImdb/test/neg/3.txt": "BAD bad; film",
        },
    )
    train = text.Imdb(file, "train", cutoff=1)
    assert train.word_idx == {b"the": 0, b"bad": 1, b"film": 2, b"good": 3, "<unk>": 4}
    assert rows(train) == [[[3, 3, 2, 0, 0], [0]], [[1, 0, 2], [1]]]
    assert rows(text.Imdb(file, "test", cutoff=1)) == [[[0, 3], [0]], [[1, 1, 2], [1]]]


def test_sentences_of_a_newspaper(tmp_path: Path) -> None:
    file = archive(
        tmp_path / "ptb.tgz",
        **{
            "./simple-examples/data/ptb.train.txt": " a b a <unk> c\n a a b a\n b b b b c\n",
            "./simple-examples/data/ptb.test.txt": " a c\n q b\n",
            "./simple-examples/data/ptb.valid.txt": " b c d c c c\n",
        },
    )
    pairs = text.Imikolov(file, "NGRAM", 2, "test", 3)
    assert pairs.word_idx == {b"b": 0, b"c": 1, b"a": 2, "<e>": 3, "<s>": 4, "<unk>": 5}
    assert rows(pairs) == [[4, 2], [2, 1], [1, 3], [4, 5], [5, 0], [0, 3]]
    assert rows(text.Imikolov(file, "SEQ", -1, "test", 3)) == [[[4, 2, 1], [2, 1, 3]], [[4, 5, 0], [5, 0, 3]]]
    assert len(text.Imikolov(file, "SEQ", 5, "train", 3)) == 1
    with pytest.raises(AssertionError, match="window_size"):
        text.Imikolov(file, "NGRAM", mode="test", min_word_freq=3)


def test_ratings(tmp_path: Path) -> None:
    file = tmp_path / "ml.zip"
    with zipfile.ZipFile(file, "w") as z:
        z.writestr("ml-1m/movies.dat", "1::Toy Story (1995)::Comedy|Action\n")
        z.writestr("ml-1m/users.dat", "1::F::1::10::48067\n2::M::56::16::70072\n")
        z.writestr("ml-1m/ratings.dat", "".join(f"{1 + i % 2}::1::{1 + i % 5}::0\n" for i in range(40)))
    train, test = text.Movielens(str(file), "train", 0.3), text.Movielens(str(file), "test", 0.3)
    assert (len(train), len(test)) == (33, 7)
    assert rows(train)[0] == [[1], [1], [0], [10], [1], [1, 0], [1, 0], [-3.0]]


def test_translations(tmp_path: Path) -> None:
    words = "<s>\n<e>\n<unk>\n"
    file = archive(
        tmp_path / "wmt14.tgz",
        **{
            "wmt14/train/train": "a b\tx y\nb\ty\nwrong\n",
            "wmt14/test/test": "a q\tx q\n",
            "wmt14/src.dict": words + "a\nb\n",
            "wmt14/trg.dict": words + "x\ny\n",
        },
    )
    assert rows(text.WMT14(file, "train", 5)) == [[[0, 3, 4, 1], [0, 3, 4], [3, 4, 1]], [[0, 4, 1], [0, 4], [4, 1]]]
    assert rows(text.WMT14(file, "test", 5)) == [[[0, 3, 2, 1], [0, 3, 2], [3, 2, 1]]]
    with pytest.raises(AssertionError, match="dict_size"):
        text.WMT14(file)
    file = archive(tmp_path / "wmt16.tgz", **{"wmt16/train": "a b a\tx y\nb a\ty y\n", "wmt16/val": "b\ty\n"})
    pairs = text.WMT16(file, "train", 5, 5)
    assert rows(pairs) == [[[0, 3, 4, 3, 1], [0, 4, 3], [4, 3, 1]], [[0, 4, 3, 1], [0, 3, 3], [3, 3, 1]]]
    assert pairs.get_dict("de", reverse=True) == {0: "<s>", 1: "<e>", 2: "<unk>", 3: "y", 4: "x"}
    assert rows(text.WMT16(file, "val", 4, 5, "de")) == [[[0, 3, 1], [0, 4], [4, 1]]]


def test_roles_in_sentences(tmp_path: Path) -> None:
    file = archive(
        tmp_path / "conll.tgz",
        **{
            "conll05st-release/test.wsj/words/test.wsj.words.gz": gzip.compress(b"The\ncat\nsat\n\nDogs\nrun\n\n"),
            "conll05st-release/test.wsj/props/test.wsj.props.gz": gzip.compress(
                b"-\t(A0*\n-\t*)\nsit\t(V*)\n\n-\t(A0*)\nrun\t(V*)\n\n"
            ),
        },
    )
    contents = {
        "w": "unk\nThe\ncat\nsat\nbos\neos\nDogs\n",
        "v": "sit\nrun\n",
        "t": "B-A0\nI-A0\nB-V\nI-V\nO\n",
        "e": "",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    dataset = text.Conll05st(file, *(str(tmp_path / n) for n in "wvte"))
    assert dataset.get_dict()[2] == {"B-A0": 0, "I-A0": 1, "B-V": 2, "I-V": 3, "O": 4}
    assert rows(dataset)[0] == [[1, 2, 3], [1] * 3, [2] * 3, [3] * 3, [5] * 3, [5] * 3, [0] * 3, [1, 1, 1], [0, 1, 2]]
    assert dataset.get_embedding() == str(tmp_path / "e")


def test_a_file_that_is_not_there_says_where_to_put_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(
        FileNotFoundError, match=r"dataset/imdb/aclImdb_v1\.tar\.gz does not exist, and gradtool"
    ) as caught:
        text.Imdb()
    assert "download https://dataset.bj.bcebos.com/imdb%2FaclImdb_v1.tar.gz and put it there" in str(caught.value)
