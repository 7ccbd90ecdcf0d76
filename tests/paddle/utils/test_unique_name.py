"""``paddle.utils.unique_name``: one counter per key, apart from the counters of programs."""

from __future__ import annotations

import pytest

from gradtool import paddle
from gradtool.engine.ir.program import Program
from gradtool.paddle.utils import unique_name


def test_every_key_counts_by_itself() -> None:
    with unique_name.guard():
        assert [unique_name.generate(k) for k in ("fc", "fc", "relu", "fc")] == ["fc_0", "fc_1", "relu_0", "fc_2"]


def test_a_guard_counts_from_the_beginning_and_ends() -> None:
    with unique_name.guard():
        unique_name.generate("fc")
        with unique_name.guard("pre_"):
            assert unique_name.generate("fc") == "pre_fc_0"
            with unique_name.guard():
                assert unique_name.generate("fc") == "fc_0"
            assert unique_name.generate("fc") == "pre_fc_1"
        assert unique_name.generate("fc") == "fc_1"


def test_a_guard_ends_with_an_exception() -> None:
    with unique_name.guard():
        with pytest.raises(KeyError), unique_name.guard("pre_"):
            raise KeyError
        assert unique_name.generate("fc") == "fc_0"


def test_switch_gives_the_generator_before() -> None:
    with unique_name.guard():
        unique_name.generate("fc")
        before = unique_name.switch()
        assert unique_name.generate("fc") == "fc_0"
        unique_name.switch(before)
        assert unique_name.generate("fc") == "fc_1"


def test_static_layers_count_in_their_program() -> None:
    with unique_name.guard("pre_"), paddle.static.program_guard(Program(), Program()):
        x = paddle.static.data("x", [2, 3])
        assert paddle.static.nn.fc(x, 2).name == "fc_0.tmp_1"
        assert unique_name.generate("fc") == "pre_fc_0"


def test_old_packages_have_it_too() -> None:
    assert paddle.base.unique_name.generate is paddle.fluid.unique_name.generate is unique_name.generate
