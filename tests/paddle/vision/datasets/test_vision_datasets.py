"""Data sets of images, read from files that lie there; nothing in them runs, and nothing is downloaded."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.vision import datasets

from . import files


@pytest.fixture(autouse=True)
def dynamic() -> None:
    paddle.disable_static()


def test_digits_are_images_of_pil_or_arrays(tmp_path: Path) -> None:
    images, labels, pixels = files.digits(tmp_path)
    data = datasets.MNIST(images, labels)
    image, label = data[1]
    assert (len(data), data.mode, image.mode, image.size) == (3, "train", "L", (28, 28))
    assert (label.dtype, label.tolist()) == (np.int64, [1])
    image, label = datasets.MNIST(images, labels, mode="test", backend="cv2")[2]
    np.testing.assert_array_equal(image, pixels[2].astype("float32"))
    assert image.dtype == np.float32
    tensor, _ = datasets.FashionMNIST(images, labels, transform=paddle.vision.transforms.ToTensor())[0]
    assert (tensor.shape, tensor.dtype) == ([1, 28, 28], paddle.float32)


def test_batches_of_data_sets_come_from_loaders(tmp_path: Path) -> None:
    images, labels, _ = files.digits(tmp_path)
    to_tensor = paddle.vision.transforms.ToTensor()
    loader = paddle.io.DataLoader(datasets.MNIST(images, labels, transform=to_tensor), batch_size=2)
    assert [[*part.shape] for part in next(iter(loader))] == [[2, 1, 28, 28], [2, 1]]


@pytest.mark.parametrize(("kind", "labels"), [(datasets.Cifar10, "labels"), (datasets.Cifar100, "fine_labels")])
def test_batches_of_cifar_are_read_in_order(kind: Any, labels: str, tmp_path: Path) -> None:
    train, test = (kind.PARTS[mode] for mode in ("train", "test"))
    parts = {f"folder/{train}_{i}" if labels == "labels" else f"folder/{train}": i for i in (2, 1)}
    content = {name: files.batch(2, labels, first) for name, first in parts.items()}
    path = files.archive(tmp_path / "cifar.tar.gz", {**content, f"folder/{test}": files.batch(3, labels, 7)})
    data = kind(path)
    assert [int(label) for _, label in data] == ([1, 2, 2, 3] if labels == "labels" else [1, 2])
    image, label = kind(path, mode="test", backend="cv2")[1]
    assert (image.shape, image.dtype.name, float(image.max()), label.dtype.name) == ((32, 32, 3), "float32", 7, "int64")
    assert kind(path, mode="test")[0][0].mode == "RGB"


class Harm:
    def __reduce__(self) -> Any:
        return print, ("harm was done",)


def test_a_pickle_that_would_run_something_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = files.archive(tmp_path / "cifar.tar.gz", {"folder/data_batch_1": pickle.dumps({b"data": Harm()})})
    with pytest.raises(ValueError, match=r"data_batch_1: expected NumPy arrays"):
        datasets.Cifar10(path)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("packed", [True, False])
def test_flowers_are_counted_by_their_files(packed: bool, tmp_path: Path) -> None:
    pictures = {f"jpg/image_{i:05d}.jpg": files.picture("JPEG", 6, 5, 3) for i in range(1, 5)}
    images = files.archive(tmp_path / "flowers.tgz", pictures)
    labels = files.matlab(tmp_path / "labels.mat", {"labels": np.array([[3, 1, 4, 2]], "uint8")}, packed=packed)
    sets = {"trnid": np.array([[1.0]]), "valid": np.array([[2]], "uint16"), "tstid": np.array([[4, 3]], "uint16")}
    numbers = files.matlab(tmp_path / "sets.mat", sets, packed=packed)
    found = {mode: datasets.Flowers(images, labels, numbers, mode=mode) for mode in ("train", "valid", "test")}
    assert {mode: [int(label[0]) for _, label in data] for mode, data in found.items()} == {
        "train": [2, 4],
        "valid": [1],
        "test": [3],
    }
    image, label = found["train"][0]
    assert (image.mode, image.size, label.dtype) == ("RGB", (5, 6), np.int64)
    assert copy.deepcopy(found["valid"])[0][0].size == (5, 6)
    assert datasets.Flowers(images, labels, numbers, backend="cv2")[0][0].dtype == np.float32


def test_photographs_come_with_a_label_for_each_pixel(tmp_path: Path) -> None:
    home = "VOCdevkit/VOC2012"
    lists = {"train": ["a"], "val": ["b"], "trainval": ["a", "b"]}
    content = {f"{home}/ImageSets/Segmentation/{n}.txt": "\n".join(names).encode() for n, names in lists.items()}
    for name in "ab":
        content[f"{home}/JPEGImages/{name}.jpg"] = files.picture("JPEG", 6, 5, 3)
        content[f"{home}/SegmentationClass/{name}.png"] = files.picture("PNG", 6, 5)
    path = files.archive(tmp_path / "voc.tar", content)
    assert [len(datasets.VOC2012(path, mode=mode)) for mode in ("train", "valid", "test")] == [2, 1, 1]
    image, label = datasets.VOC2012(path, backend="cv2")[1]
    assert (image.shape, image.dtype, label.shape, label.dtype) == ((6, 5, 3), np.float32, (6, 5), np.float32)


@pytest.fixture
def tree(tmp_path: Path) -> str:
    for name in ("b/2.PNG", "a/1.png", "a/0.png", "a/deep/3.png", "top.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(files.picture("PNG", 4, 3))
    (tmp_path / "b" / "notes.txt").write_text("x")
    return str(tmp_path)


def test_folders_are_classes(tree: str) -> None:
    data = datasets.DatasetFolder(tree)
    assert data.class_to_idx == {"a": 0, "b": 1}
    assert [(Path(path).name, i) for path, i in data.samples] == [
        ("0.png", 0),
        ("1.png", 0),
        ("3.png", 0),
        ("2.PNG", 1),
    ]
    image, target = data[3]
    assert (image.mode, image.size, target, data.targets) == ("RGB", (3, 4), 1, [0, 0, 0, 1])
    texts = datasets.DatasetFolder(
        tree, loader=lambda p: Path(p).read_text(), extensions=(".txt",), transform=str.upper
    )
    assert [*texts] == [("X", 1)]


def test_images_of_a_folder_come_as_lists(tree: str) -> None:
    data = datasets.ImageFolder(tree, transform=paddle.vision.transforms.ToTensor())
    assert [Path(path).name for path in data.samples] == ["top.png", "0.png", "1.png", "3.png", "2.PNG"]
    assert [tensor.shape for tensor in data[0]] == [[3, 4, 3]]
    with pytest.raises(RuntimeError, match="Found 0 files in subfolders"):
        datasets.ImageFolder(tree, extensions=(".bmp",))
    with pytest.raises(RuntimeError, match="Found 0 directories in subfolders"):
        datasets.DatasetFolder(f"{tree}/b")


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        (datasets.MNIST, "mnist/train-images-idx3-ubyte.gz"),
        (datasets.FashionMNIST, "fashion-mnist/train-images-idx3-ubyte.gz"),
        (datasets.Cifar10, "cifar/cifar-10-python.tar.gz"),
        (datasets.Cifar100, "cifar/cifar-100-python.tar.gz"),
        (datasets.Flowers, "flowers/102flowers.tgz"),
        (datasets.VOC2012, "voc2012/VOCtrainval_11-May-2012.tar"),
    ],
)
def test_a_file_that_is_not_there_is_asked_for_by_its_place(
    kind: Any, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / ".cache/paddle/dataset" / place
    with pytest.raises(FileNotFoundError) as missing:
        kind()
    assert str(path) in str(missing.value)
    assert "and put it there" in str(missing.value)
    with pytest.raises(AssertionError, match="downloading automatically is disabled"):
        kind(download=False)
    with pytest.raises(AssertionError, match="mode should be"):
        kind(mode="exam")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"another file")
    with pytest.raises(RuntimeError, match="another md5sum"):
        kind()


def test_files_of_other_kinds_are_told(tmp_path: Path) -> None:
    images, labels, _ = files.digits(tmp_path)
    plain = tmp_path / "plain"
    plain.write_bytes(b"no archive")
    few = files.digits(tmp_path / "few" if (tmp_path / "few").mkdir() is None else tmp_path, 2)[1]
    calls: list[tuple[Any, str]] = [
        (lambda: datasets.MNIST(labels, images), "it has 11 bytes"),
        (lambda: datasets.MNIST(images, images), "begins with 2051, not with 2049"),
        (lambda: datasets.MNIST(str(plain), labels), "cannot be unpacked"),
        (lambda: datasets.MNIST(images, few), "it has 2 labels, and .* 3 images"),
        (lambda: datasets.Cifar10(str(plain)), "expected a tar archive"),
        (lambda: datasets.Cifar10(files.archive(tmp_path / "empty.tar.gz", {})), "there is no data_batch in it"),
        (lambda: datasets.VOC2012(files.archive(tmp_path / "voc.tar", {})), "with a file VOCdevkit"),
        (lambda: datasets.Flowers(str(plain), str(plain), str(plain)), "it does not begin like one"),
    ]
    for call, text in calls:
        with pytest.raises(ValueError, match=text):
            call()


def test_bytes_of_a_file_are_decoded(tmp_path: Path) -> None:
    ops = paddle.vision.ops
    path = tmp_path / "a.jpg"
    path.write_bytes(files.picture("JPEG", 6, 5, 3))
    data = ops.read_file(str(path))
    shapes = [ops.decode_jpeg(data, mode=mode).shape for mode in ("unchanged", "gray", "rgb")]
    assert shapes == [[3, 6, 5], [1, 6, 5], [3, 6, 5]]
    assert ops.decode_jpeg(data).dtype == paddle.uint8
    with pytest.raises(ValueError, match="mode must be one of unchanged, gray, rgb"):
        ops.decode_jpeg(data, mode="cmyk")
    with pytest.raises(ValueError, match="expected the bytes of a JPEG file"):
        ops.decode_jpeg(paddle.zeros([8], "uint8"))
