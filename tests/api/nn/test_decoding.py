"""Decoders write what Paddle's write, step by step."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import gradtool as paddle
from gradtool.engine.core.errors import UnsupportedError
from tests.api.nn.record_decoding import OUT, everything

nn = paddle.nn


@pytest.mark.usefixtures("dynamic")
def test_sequences_states_and_lengths_are_paddles() -> None:
    recorded = json.loads(OUT.read_text(encoding="utf-8"))
    for mine, theirs in zip(everything(paddle), recorded, strict=True):
        for ours, expected in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(ours, expected, rtol=2e-5, atol=1e-6)


@pytest.mark.usefixtures("dynamic")
def test_a_decoder_says_what_it_does_not_define() -> None:
    from gradtool.nn._decoding import Decoder

    decoder: Any = Decoder()
    assert not decoder.tracks_own_finished
    for call in (lambda: decoder.initialize(0), lambda: decoder.step(0, 0, 0), lambda: decoder.finalize(0, 0, 0)):
        with pytest.raises(NotImplementedError, match="Decoder defines no"):
            call()


def test_static_mode_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="runs in dynamic mode"):
        nn.dynamic_decode(nn.BeamSearchDecoder(nn.GRUCell(2, 2), 0, 1, 2))
