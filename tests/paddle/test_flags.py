"""Flags that gradtool does not know."""

from __future__ import annotations

import pytest

from gradtool import paddle


def test_an_unknown_flag_is_kept_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="FLAGS_strange is not known to gradtool; its value is kept") as warned:
        paddle.set_flags({"FLAGS_strange": 3})
    assert warned[0].filename == __file__
    assert paddle.get_flags("FLAGS_strange") == {"FLAGS_strange": 3}
    with pytest.warns(UserWarning, match="FLAGS_stranger is not known to gradtool; None stands for its value"):
        assert paddle.get_flags(["FLAGS_stranger"]) == {"FLAGS_stranger": None}
