"""Records what Paddle's decoders write.

Run with an interpreter that has Paddle 3.3.1, from the top of the repository::

    PADDLE/bin/python tests/paddle/nn/record_decoding.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).with_name("decoding.json")

SEARCHES = ((3, 6, False), (2, 12, True), (1, 4, False), (4, 0, False))
"""Beams, the last step, and whether time comes first."""


def searched(paddle: Any) -> list[Any]:
    """What beam searches give: sequences, and all that states hold."""
    rng = np.random.default_rng(4)
    cell, table, out = paddle.nn.GRUCell(4, 5), paddle.nn.Embedding(6, 4), paddle.nn.Linear(5, 6)
    for layer in (cell, table, out):
        for p in layer.parameters():
            p.set_value(rng.normal(size=p.shape).astype("float32") * 1.5)
    results = []
    for beams, last, time_first in SEARCHES:
        decoder = paddle.nn.BeamSearchDecoder(cell, 0, 1, beams, table, out)
        start = paddle.to_tensor(rng.normal(size=(2, 5)).astype("float32"))
        words, states, lengths = paddle.nn.dynamic_decode(
            decoder, start, max_step_num=last, output_time_major=time_first, return_length=True
        )
        parts = (words, states.log_probs, states.finished, lengths, states.cell_states)
        results.append([part.numpy().tolist() for part in parts])
    rows = paddle.to_tensor(rng.normal(size=(2, 3)))
    results.append([paddle.nn.BeamSearchDecoder.tile_beam_merge_with_batch(rows, 2).numpy().tolist()])
    return results


def counted(paddle: Any, impute: bool) -> list[Any]:
    """What a decoder of one's own gives."""

    class Counter:
        tracks_own_finished = False

        def initialize(self, inits: Any) -> Any:
            return inits, inits, paddle.to_tensor([False, False, False])

        def step(self, time: Any, inputs: Any, states: Any, by: float = 1.0) -> Any:
            states = states + 1
            ended = states[:, 0] > paddle.to_tensor([2.0, 4.0, 1.0])
            return {"inputs": inputs * 2, "states": states}, states, inputs + by, ended

        def finalize(self, outputs: Any, states: Any, lengths: Any) -> Any:
            raise NotImplementedError

    outputs, states, lengths = paddle.nn.dynamic_decode(
        Counter(), paddle.zeros([3, 2]), impute_finished=impute, return_length=True, by=3.0
    )
    return [part.numpy().tolist() for part in (outputs["inputs"], outputs["states"], states, lengths)]


def everything(paddle: Any) -> list[Any]:
    return [*searched(paddle), *(counted(paddle, impute) for impute in (False, True))]


def main() -> None:
    import paddle

    OUT.write_text(json.dumps(everything(paddle), separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
