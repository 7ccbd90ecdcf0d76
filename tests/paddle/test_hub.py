"""``paddle.hub``: models of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.paddle import hub

CONF = """
dependencies = ["numpy"]
from neighbour import base

def net(size=2, **kwargs):
    "A net of a size."
    return [base] * size

_hidden = net
"""


pytestmark = pytest.mark.usefixtures("own_modules")


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "hubconf.py").write_text(CONF)
    (tmp_path / "neighbour.py").write_text("base = 7\n")
    return str(tmp_path)


def test_a_local_folder_lists_explains_and_makes_its_models(folder: str) -> None:
    assert hub.list(folder, source="local") == ["net"]
    assert hub.help(folder, "net", source="local") == "A net of a size."
    assert hub.load(folder, "net", source="local", size=3) == [7, 7, 7]


def test_what_cannot_be_had_says_so(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="gradtool downloads nothing") as caught:
        hub.load("PaddlePaddle/PaddleClas", "resnet50")
    assert "source='local'" in str(caught.value)
    with pytest.raises(ValueError, match="Unknown source: 'gitlab'"):
        hub.list(folder, source="gitlab")
    with pytest.raises(RuntimeError, match="Cannot find callable nat in hubconf"):
        hub.load(folder, "nat", source="local")
    with pytest.raises(FileNotFoundError, match=r"there is no hubconf\.py"):
        hub.list(str(tmp_path / "nowhere"), source="local")
    (tmp_path / "hubconf.py").write_text("dependencies = ['gradtool_nonsense']\ndef net(): pass\n")
    with pytest.raises(RuntimeError, match="Missing dependencies: gradtool_nonsense"):
        hub.load(folder, "net", source="local")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(
        FileNotFoundError, match=r"weights/net\.pdparams does not exist, and gradtool downloads nothing"
    ):
        hub.load_state_dict_from_url("https://example.com/net.pdparams")
