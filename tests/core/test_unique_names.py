"""Counters of unique names: those of layers with one output are held as ranges, and count as any others."""

from __future__ import annotations

import random

import pytest

from gradtool.engine.core.names import UniqueNames


class Plain:
    """One counter per key, and nothing else."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.counts: dict[str, int] = {}

    def __call__(self, key: str) -> str:
        number = self.counts[key] = self.counts.get(key, 0) + 1
        return f"{self.prefix}{key}_{number - 1}"

    def output(self, key: str) -> str:
        return self(f"{self(key)}.tmp")


@pytest.mark.parametrize("prefix", ["", "p/"])
@pytest.mark.parametrize("seed", range(4))
def test_outputs_of_layers_count_as_if_each_had_a_counter(seed: int, prefix: str) -> None:
    draws = random.Random(seed)
    names, plain = UniqueNames(prefix), Plain(prefix)
    keys = ["relu", "fc", "relu_0", "a.tmp", "relu_2.tmp", "relu_12.tmp", "fc_01.tmp", "fc_1.tmp"]
    for _ in range(300):
        key, form = draws.choice(keys), draws.choice(["__call__", "output", "output"])
        assert getattr(names, form)(key) == getattr(plain, form)(key)
    assert names.every_count() == dict(sorted(plain.counts.items()))
    twin = names.copy()
    for key in keys:
        assert twin(key) == plain(key)
    assert names.every_count() != twin.every_count()
    names.become(twin)
    assert names.every_count() == twin.every_count() == dict(sorted(plain.counts.items()))


def test_a_million_layers_hold_one_counter() -> None:
    names = UniqueNames()
    for _ in range(1000):
        names.output("tanh")
    assert (names.counts, names.outputs) == ({"tanh": 1000}, {"tanh": [0, 1000]})
    names("tanh")  # a name that is no layer
    names.output("tanh")
    assert names.outputs == {"tanh": [0, 1000, 1001, 1002]}
    assert [names(f"tanh_{n}.tmp") for n in (999, 1000, 1001, 1002)] == [
        "tanh_999.tmp_1", "tanh_1000.tmp_0", "tanh_1001.tmp_1", "tanh_1002.tmp_0",
    ]  # fmt: skip


def test_counters_that_were_set_back_go_on_without_giving_a_name_twice() -> None:
    names = UniqueNames()
    names.output("tanh")
    names.journal = []
    given = {names.output("tanh") for _ in range(3)}
    names.take_back(names.journal)
    names.journal = None
    assert {names.output("tanh") for _ in range(3)} == given
    names.raise_to("tanh_0.tmp", 0)
    names.counts["tanh"] = 0
    assert names.output("tanh") == "tanh_0.tmp_1"
