"""Nested structures, versions, and files in the cache."""

from __future__ import annotations

import hashlib
from collections import OrderedDict, namedtuple
from pathlib import Path

import pytest

from gradtool import paddle
from gradtool.paddle import utils

Pair = namedtuple("Pair", "a b")


def test_flatten_goes_through_dicts_by_their_keys() -> None:
    assert utils.flatten({"b": 1, "a": [2, (3,)]}) == [2, 3, 1]
    assert (utils.flatten(5), utils.flatten("ab"), utils.flatten(Pair(1, [2]))) == ([5], ["ab"], [1, 2])


def test_values_are_packed_as_a_structure() -> None:
    assert utils.pack_sequence_as({"b": 1, "a": [2, 3]}, [7, 8, 9]) == {"b": 9, "a": [7, 8]}
    assert utils.pack_sequence_as(Pair(1, 2), [3, 4]) == Pair(3, 4)
    assert [*utils.pack_sequence_as(OrderedDict(b=1, a=2), [3, 4]).items()] == [("b", 4), ("a", 3)]
    assert utils.pack_sequence_as(1, [2]) == 2
    with pytest.raises(ValueError, match="Structure had 2 elements, but flat_sequence had 1"):
        utils.pack_sequence_as([1, 2], [3])
    with pytest.raises(TypeError, match="must be a sequence"):
        utils.pack_sequence_as([1, 2], 3)


def test_functions_of_values_side_by_side() -> None:
    assert utils.map_structure(lambda x: x + 1, {"b": 1, "a": [2, (3,)]}) == {"b": 2, "a": [3, (4,)]}
    assert utils.map_structure(lambda x, y: x + y, [1, (2,)], [3, 4]) == [4, (6,)]
    assert utils.map_structure(lambda x: -x, 3) == -3
    with pytest.raises(ValueError, match="Could not pack sequence"):
        utils.map_structure(lambda x, y: x + y, [1, 2], [3])


def test_structures_are_compared() -> None:
    utils.assert_same_structure({"a": [1, (2,)]}, {"a": [3, (4,)]})
    with pytest.raises(TypeError, match="same sequence type"):
        utils.assert_same_structure([1, 2], (1, 2))
    with pytest.raises(ValueError, match="same number of elements"):
        utils.assert_same_structure([1, 2], [1])
    with pytest.raises(ValueError, match="same set of keys"):
        utils.assert_same_structure({"a": 1}, {"b": 1})
    with pytest.raises(ValueError, match="same nested structure"):
        utils.assert_same_structure([1, [2]], [1, 2])


def test_modules_that_may_be_missing() -> None:
    assert utils.try_import("math").pi > 3
    with pytest.raises(ImportError, match="pip install no_such_module"):
        utils.try_import("no_such_module")
    with pytest.raises(ImportError, match=r"^get it$"):
        utils.try_import("no_such_module", "get it")


def test_versions() -> None:
    utils.require_version("2.0")
    utils.require_version("3.3.1", "3.3.1.0")
    with pytest.raises(Exception, match=r"version 9\.0 or higher is required, but 3\.3\.1 installed"):
        utils.require_version("9.0")
    with pytest.raises(Exception, match=r"in \[1\.0, 2\.0\] required"):
        utils.require_version("1.0", "2.0")
    with pytest.raises(ValueError, match="must be in format"):
        utils.require_version("a")
    with pytest.raises(TypeError, match="must be str"):
        utils.require_version(1)  # type: ignore[arg-type]


def test_functions_that_are_going_to_be_removed() -> None:
    @utils.deprecated(update_to="paddle.new", since="2.0", reason="it is slow")
    def old() -> int:
        """Old."""
        return 1

    with pytest.warns(DeprecationWarning, match=r'since 2\.0.*"paddle\.new" instead\.\n    Reason: it is slow'):
        assert old() == 1
    assert (old.__name__, old.__doc__) == ("old", "Old.")
    gone = utils.deprecated(level=2)(lambda: 1)
    with pytest.raises(RuntimeError, match="is deprecated"):
        gone()


def test_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    utils.run_check()
    assert "works well on 1 CPU" in capsys.readouterr().out
    assert not paddle.in_dynamic_mode()


def test_files_come_from_the_cache_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    address = "https://example.org/models/net.pdparams?version=2"
    with pytest.raises(FileNotFoundError, match="gradtool downloads nothing"):
        utils.download.get_weights_path_from_url(address)
    path = tmp_path / ".cache/paddle/hapi/weights/net.pdparams"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"weights")
    md5 = hashlib.md5(b"weights").hexdigest()
    assert utils.download.get_weights_path_from_url(address, md5) == str(path)
    with pytest.raises(RuntimeError, match="has another md5sum"):
        utils.download.get_weights_path_from_url(address, "0" * 32)
    with pytest.raises(ValueError, match="only support http or https"):
        utils.download.get_weights_path_from_url("ftp://example.org/net")


def test_an_archive_stands_for_its_folder(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    address = "http://example.org/data.tar.gz"
    assert utils.download.get_path_from_url(address, str(tmp_path)) == str(tmp_path / "data")
