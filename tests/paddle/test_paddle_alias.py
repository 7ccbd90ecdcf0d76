"""``import paddle`` finds gradtool when it is asked to, and says what it lacks."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from collections.abc import Iterator

import pytest

import gradtool
from gradtool.paddle import _alias


@pytest.fixture
def alias() -> Iterator[None]:
    """The alias, unless another test left it on, and nothing of it afterwards."""
    _alias.uninstall()
    with _alias.active():
        yield
    assert "paddle" not in sys.modules


def test_nothing_is_called_paddle_by_default() -> None:
    _alias.uninstall()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("paddle")


@pytest.mark.usefixtures("alias")
def test_paddle_is_the_same_module() -> None:
    import paddle
    import paddle.nn.functional as F
    import paddle.static as S
    from paddle.static.nn import fc

    assert paddle is gradtool.paddle
    assert S is gradtool.paddle.static
    assert F is gradtool.paddle.nn.functional
    assert fc is gradtool.paddle.static.nn.fc
    assert sys.modules["paddle.static.nn"] is gradtool.paddle.static.nn


@pytest.mark.usefixtures("alias")
def test_modules_keep_their_own_names() -> None:
    import paddle.static.nn

    for name in ("paddle", "paddle.static", "paddle.static.nn"):
        module = sys.modules[name]
        assert module.__name__ == f"gradtool.{name}"
        assert module.__spec__ is not None
        assert module.__spec__.name == module.__name__
    assert paddle.static.nn.__name__ == "gradtool.paddle.static.nn"


@pytest.mark.usefixtures("alias")
@pytest.mark.parametrize(
    ("code", "about"),
    [
        ("import paddle.nonsense", r"paddle\.nonsense is not implemented in gradtool"),
        ("from paddle import nonsense", r"paddle\.nonsense is not implemented in gradtool"),
        ("from paddle.static import append_backwards", "did you mean 'append_backward'"),
        ("from paddle.base import optimizer", "it is in paddle.optimizer"),
        ("import paddle.fluid.dataset", "it is a part of Paddle that gradtool does not have"),
    ],
)
def test_an_import_of_what_is_not_there_says_so(code: str, about: str) -> None:
    with pytest.raises(ImportError, match=about):
        exec(code, {})


@pytest.mark.usefixtures("alias")
def test_an_attribute_that_is_not_there_says_so() -> None:
    import paddle

    with pytest.raises(AttributeError, match=r"paddle\.static\.gradient is not implemented in gradtool") as caught:
        _ = paddle.static.gradient
    assert "did you mean 'gradients'" in str(caught.value)
    assert not hasattr(paddle, "nonsense")


def test_the_alias_ends_where_it_began() -> None:
    _alias.uninstall()
    finders = list(sys.meta_path)
    with _alias.active():
        assert importlib.import_module("paddle") is gradtool.paddle
        with _alias.active():
            pass
        assert importlib.import_module("paddle.static") is gradtool.paddle.static
    assert sys.meta_path == finders
    assert not [n for n in sys.modules if n == "paddle" or n.startswith("paddle.")]


def test_as_paddle_stays() -> None:
    _alias.uninstall()
    gradtool.as_paddle()
    try:
        assert importlib.import_module("paddle") is gradtool.paddle
        with _alias.active():
            pass
        assert importlib.import_module("paddle") is gradtool.paddle
    finally:
        _alias.uninstall()


def test_the_real_paddle_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    _alias.uninstall()

    monkeypatch.setitem(sys.modules, "paddle", types.ModuleType("paddle"))
    with pytest.raises(ImportError, match="real paddle"):
        gradtool.as_paddle()


@pytest.mark.usefixtures("alias")
def test_other_imports_are_none_of_its_business() -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named 'paddles'"):
        importlib.import_module("paddles")
    assert importlib.util.find_spec("json") is not None


@pytest.mark.usefixtures("alias")
def test_star_imports_take_what_a_module_lists() -> None:
    namespace: dict[str, object] = {}
    exec("from paddle.static.nn import *", namespace)
    assert namespace["fc"] is gradtool.paddle.static.nn.fc
