"""What images are read with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PIL import Image

from gradtool import paddle


def test_backends_say_what_images_are_read_with(tmp_path: Path) -> None:
    vision = paddle.vision
    path = str(tmp_path / "top.png")
    Image.new("L", (3, 4)).save(path)
    assert vision.get_image_backend() == "pil"
    assert vision.image_load(path).size == (3, 4)
    for call in (lambda: vision.set_image_backend("gif"), lambda: vision.image_load(path, "gif")):
        with pytest.raises(ValueError, match="Expected backend are one of"):
            call()
    with pytest.raises(ValueError, match="reads nothing with backend 'tensor'"):
        vision.image_load(path, "tensor")
    try:
        vision.set_image_backend("cv2")
        assert vision.get_image_backend() == "cv2"
    finally:
        vision.set_image_backend("pil")


def test_images_of_pil_say_that_they_need_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ImportError, match="need Pillow, which is not installed") as raised:
        paddle.vision.image_load("any.png")
    assert "pip install 'gradtool[images]'" in str(raised.value)
