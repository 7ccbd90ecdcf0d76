"""Decoders write what Paddle's write, step by step."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from tests.paddle.nn.record_decoding import OUT, everything

nn = paddle.nn


@pytest.mark.usefixtures("dynamic")
def test_sequences_states_and_lengths_are_paddles() -> None:
    recorded = json.loads(OUT.read_text(encoding="utf-8"))
    for mine, theirs in zip(everything(paddle), recorded, strict=True):
        for ours, expected in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(ours, expected, rtol=2e-5, atol=1e-6)


@pytest.mark.usefixtures("dynamic")
def test_a_decoder_says_what_it_does_not_define() -> None:
    from gradtool.paddle.nn._decoding import Decoder

    decoder: Any = Decoder()
    assert not decoder.tracks_own_finished
    for call in (lambda: decoder.initialize(0), lambda: decoder.step(0, 0, 0), lambda: decoder.finalize(0, 0, 0)):
        with pytest.raises(NotImplementedError, match="Decoder defines no"):
            call()


class Counter:
    """Counts up; each sequence ends at a number of its own."""

    tracks_own_finished = False

    def initialize(self, inits: Any) -> Any:
        return inits, inits, inits[:, 0] > 100.0

    def step(self, time: Any, inputs: Any, states: Any, by: float = 1.0) -> Any:
        states = states + 1
        ended = states[:, 0] > paddle.to_tensor([2.0, 4.0, 1.0])
        return {"inputs": inputs * 2, "states": states}, states, inputs + by, ended

    def finalize(self, outputs: Any, states: Any, lengths: Any) -> Any:
        raise NotImplementedError


def searches(start: Any) -> list[Any]:
    """What a search along beams gives, the sequences, probabilities and lengths, with weights that never change."""
    drawn = np.random.default_rng(4)

    def weights(*shape: int) -> Any:
        return paddle.ParamAttr(initializer=nn.initializer.Assign(drawn.normal(size=shape).astype("float32") * 1.5))

    attrs = {n: weights(15, c) for n, c in (("weight_ih_attr", 4), ("weight_hh_attr", 5))}
    cell = nn.GRUCell(4, 5, bias_ih_attr=False, bias_hh_attr=False, **attrs)
    table, out = nn.Embedding(6, 4, weight_attr=weights(6, 4)), nn.Linear(5, 6, weights(5, 6), False)
    decoder = nn.BeamSearchDecoder(cell, 0, 1, 3, table, out)
    words, states, lengths = nn.dynamic_decode(decoder, start, max_step_num=5, return_length=True)
    return [words, states.log_probs, states.finished, lengths]


def counts(impute: bool, start: Any) -> list[Any]:
    outputs, states, lengths = nn.dynamic_decode(
        Counter(), start, impute_finished=impute, output_time_major=True, return_length=True, by=3.0
    )
    return [outputs["inputs"], outputs["states"], states, lengths]


@pytest.mark.parametrize("batch", [3, -1])
@pytest.mark.parametrize("decode", [searches, partial(counts, False), partial(counts, True)])
def test_programs_decode_as_dynamic_mode_does(decode: Any, batch: int) -> None:
    start = np.random.default_rng(1).normal(size=(3, 5)).astype("float32") * (decode is searches)
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        fetched = decode(paddle.static.data("start", [batch, 5]))
        executor = paddle.static.Executor()
        executor.run(paddle.static.default_startup_program())
        ours = executor.run(feed={"start": start}, fetch_list=fetched)
    paddle.disable_static()
    for mine, expected in zip(ours, decode(paddle.to_tensor(start)), strict=True):
        np.testing.assert_allclose(mine, expected.numpy(), rtol=1e-5)
    paddle.enable_static()
