"""Sequences written step by step: decoders, the loop that runs them, and the search along several beams."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.paddle._structure import leaves, mapped, packed

from . import functional as F

FAR = 1e9
"""Minus this stands for the logarithm of no probability at all."""


class Undecided(UsageError, NotImplementedError):
    """A decoder that does not say how it begins, goes on or ends (Paddle raises NotImplementedError)."""


class Decoder:
    """Base of decoders that :func:`dynamic_decode` runs; subclasses define the three methods."""

    def initialize(self, inits: Any) -> tuple[Any, Any, Any]:
        """The first inputs, the first states, and which sequences have ended."""
        raise Undecided(f"{type(self).__name__} defines no initialize()")

    def step(self, time: Any, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Any]:
        """Outputs, next states, next inputs, and which sequences have ended."""
        raise Undecided(f"{type(self).__name__} defines no step()")

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """Return the final outputs, from the outputs of all steps; these themselves when it is not defined."""
        raise Undecided(f"{type(self).__name__} defines no finalize()")

    @property
    def tracks_own_finished(self) -> bool:
        """True if ``step`` reports all sequences that have ended, not only those that end then."""
        return False


class BeamOutput(NamedTuple):
    """Of one step, or of all: scores, words, and the beams that each goes on from, ``[…, batch, beams]``."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class BeamState(NamedTuple):
    """The states of the cell, logarithms of the probabilities of beams, which have ended, and their lengths."""

    cell_states: Any
    log_probs: Any
    finished: Any
    lengths: Any


class BeamSearchDecoder(Decoder):
    """At every step the *beam_size* most probable beginnings are kept, and each is continued by every word.

    Args:
        cell: a recurrent cell, called with inputs and states ``[batch · beams, …]``.
        start_token, end_token: the words that every sequence begins and ends with.
        embedding_fn: from words to the inputs of the cell; the words themselves without it.
        output_fn: from the outputs of the cell to scores of all words.
    """

    OutputWrapper: ClassVar[Any] = BeamOutput
    StateWrapper: ClassVar[Any] = BeamState

    def __init__(
        self,
        cell: Any,
        start_token: int,
        end_token: int,
        beam_size: int,
        embedding_fn: Callable[..., Any] | None = None,
        output_fn: Callable[..., Any] | None = None,
    ) -> None:
        self.cell, self.embedding_fn, self.output_fn = cell, embedding_fn, output_fn
        self.start_token, self.end_token, self.beam_size = start_token, end_token, beam_size

    @staticmethod
    def tile_beam_merge_with_batch(x: Any, beam_size: int) -> Any:
        """Every example of *x* ``[batch, …]`` repeated *beam_size* times, ``[batch · beams, …]``."""
        return paddle.repeat_interleave(x, beam_size, 0)

    def _split_batch_beams(self, x: Any) -> Any:
        return paddle.reshape(x, [-1, self.beam_size, *x.shape[1:]])

    def _merge_batch_beams(self, x: Any) -> Any:
        return paddle.reshape(x, [-1, *x.shape[2:]])

    def _expand_to_beam_size(self, x: Any) -> Any:
        return paddle.tile(paddle.unsqueeze(x, [1]), [1, self.beam_size, *[1] * (x.ndim - 1)])

    def _mask_probs(self, probs: Any, finished: Any) -> Any:
        """The same, but for beams that have ended: these go on with the end and with nothing else."""
        end = F.one_hot(paddle.full([1], self.end_token, "int64"), probs.shape[-1])
        only = paddle.cast((paddle.reshape(end, [1, 1, -1]) - 1.0) * FAR, probs.dtype)
        return paddle.where(paddle.unsqueeze(finished, [2]), only, probs)

    def _gather(self, x: Any, indices: Any, batch_size: Any) -> Any:
        """Of every example the entries along dimension 1 that *indices* ``[batch, beams]`` names."""
        rows = paddle.unsqueeze(paddle.arange(0, batch_size, dtype=indices.dtype), [1])
        places = paddle.stack([rows + paddle.zeros_like(indices), indices], axis=2)
        return paddle.gather_nd(x, places)

    def initialize(self, initial_cell_states: Any) -> tuple[Any, BeamState, Any]:
        """Of every example one beam that counts, which begins with the start.

        Args:
            initial_cell_states: ``[batch, …]``.
        """
        first = leaves(initial_cell_states)[0]
        self.batch_size = first.shape[0] if first.shape[0] != UNKNOWN else paddle.shape(first)[0]
        shape = [self.batch_size, self.beam_size]
        words = paddle.full(shape, self.start_token, "int64")
        first = paddle.to_tensor([[0.0, *[-FAR] * (self.beam_size - 1)]], dtype=state.default_dtype())
        finished = paddle.full(shape, False, "bool")
        states = BeamState(
            mapped(self._expand_to_beam_size, initial_cell_states),
            paddle.tile(first, [self.batch_size, 1]),
            finished,
            paddle.zeros_like(words),
        )
        return self.embedding_fn(words) if self.embedding_fn else words, states, finished

    def _beam_search_step(
        self, time: Any, logits: Any, next_cell_states: Any, beam_state: Any
    ) -> tuple[BeamOutput, BeamState]:
        words = logits.shape[-1]
        each = self._mask_probs(F.log_softmax(logits), beam_state.finished)
        scores = paddle.reshape(each + paddle.unsqueeze(beam_state.log_probs, [2]), [-1, self.beam_size * words])
        best, places = paddle.topk(scores, self.beam_size)
        size = paddle.full([1], words, "int64")
        beams, tokens = paddle.floor_divide(places, size), paddle.remainder(places, size)

        def kept(x: Any) -> Any:
            return self._gather(x, beams, self.batch_size)

        before = kept(beam_state.finished)
        lengths = kept(beam_state.lengths) + paddle.cast(paddle.logical_not(before), "int64")
        finished = paddle.logical_or(before, tokens == self.end_token)
        return BeamOutput(best, tokens, beams), BeamState(mapped(kept, next_cell_states), best, finished, lengths)

    def step(self, time: Any, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Any]:
        """Continue the beams by one word.

        Args:
            kwargs: handed on to the cell.
        """
        merged = mapped(self._merge_batch_beams, inputs), mapped(self._merge_batch_beams, states.cell_states)
        outputs, next_states = self.cell(*merged, **kwargs)
        logits = mapped(self._split_batch_beams, outputs)
        if self.output_fn is not None:
            logits = self.output_fn(logits)
        chosen, beams = self._beam_search_step(time, logits, mapped(self._split_batch_beams, next_states), states)
        words = chosen.predicted_ids
        words.stop_gradient = True
        return chosen, beams, self.embedding_fn(words) if self.embedding_fn else words, beams.finished

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """The whole sequence of each beam, ``[steps, batch, beams]``, and the last states."""
        return F.gather_tree(outputs.predicted_ids, outputs.parent_ids), final_states

    @property
    def tracks_own_finished(self) -> bool:
        """True: beams change places, and with them which have ended."""
        return True


def dynamic_decode(
    decoder: Any,
    inits: Any = None,
    max_step_num: int | None = None,
    output_time_major: bool = False,
    impute_finished: bool = False,
    is_test: bool = False,
    return_length: bool = False,
    **kwargs: Any,
) -> Any:
    """Run a decoder until all sequences have ended.

    Args:
        decoder: a :class:`Decoder`.
        inits: what its ``initialize`` gets.
        max_step_num: the number of the last step at most, counted from 0.
        output_time_major: return ``[steps, batch, …]`` instead of ``[batch, steps, …]``.
        impute_finished: keep the states of sequences that have ended, unless the decoder follows them itself.
        is_test: taken for the sake of existing code.
        return_length: also return the lengths of the sequences.
        kwargs: handed on to the decoder's ``step``.

    Returns:
        Outputs and final states, and the lengths if they are wanted.

    In static mode the steps are those of a loop in the program, which collects outputs in arrays.
    """
    inputs, states, finished = decoder.initialize(inits)
    lengths = paddle.cast(paddle.zeros_like(finished), "int64")

    def step(time: Any, inputs: Any, states: Any, finished: Any, lengths: Any) -> tuple[Any, ...]:
        outputs, following, inputs, ended = decoder.step(time, inputs, states, **kwargs)
        if decoder.tracks_own_finished:
            lengths = getattr(following, "lengths", lengths)
        else:
            ended = paddle.logical_or(ended, finished)
            lengths = lengths + paddle.cast(paddle.logical_not(ended), "int64")
            if impute_finished:
                following = _held(states, following, ended)
        return outputs, inputs, following, ended, lengths

    run = _in_program if state.in_static_mode() else _at_once
    results, states, lengths = run(step, (inputs, states, finished, lengths), max_step_num, is_test)
    with contextlib.suppress(NotImplementedError):  # the outputs of the steps are what comes out then
        results, states = decoder.finalize(results, states, lengths)
    if not output_time_major:
        results = mapped(lambda x: paddle.transpose(x, [1, 0, *range(2, x.ndim)]), results)
    return (results, states, lengths) if return_length else (results, states)


def _at_once(step: Any, carry: tuple[Any, ...], last: int | None, is_test: bool) -> tuple[Any, Any, Any]:
    """The steps in dynamic mode: outputs of all, the states in the end, and the lengths."""
    steps: list[Any] = []
    while not bool(paddle.all(carry[2])) and (last is None or len(steps) <= last):
        outputs, *carry = step(paddle.full([1], len(steps), "int64"), *carry)
        steps.append(outputs)
    results = packed(steps[0], [paddle.stack(parts, 0) for parts in zip(*map(leaves, steps), strict=True)])
    return results, carry[1], carry[3]


def _in_program(step: Any, carry: tuple[Any, ...], last: int | None, is_test: bool) -> tuple[Any, Any, Any]:
    """The same in static mode."""
    from gradtool.engine.ir import default
    from gradtool.engine.ir.variable import ARRAY

    around = default.current_block()
    collected: list[Any] = []  # what the body was built with last: its outputs, and the array of each

    def goes_on(time: Any, *flat: Any) -> Any:
        going = paddle.logical_not(paddle.all(packed(list(carry), flat)[2]))
        return going if last is None else paddle.logical_and(going, (time <= last).reshape([]))

    def body(time: Any, *flat: Any) -> list[Any]:
        outputs, *following = step(time, *packed(list(carry), flat))
        arrays = []
        for v in leaves(outputs):
            arrays.append(around.create_var(dtype=v.dtype, type=ARRAY))
            paddle.tensor.array_write(v, time, arrays[-1])
        collected[:] = [outputs, arrays]
        return [time + 1, *leaves(following)]

    begin = [paddle.full([1], 0, "int64"), *leaves(list(carry))]
    _, *flat = paddle.static.nn.while_loop(goes_on, body, begin, is_test)
    _, states, _, lengths = packed(list(carry), flat)
    outputs, arrays = collected
    return packed(outputs, [paddle.stack(array, 0) for array in arrays]), states, lengths


def _held(states: Any, following: Any, ended: Any) -> Any:
    """*following*, but the *states* before of sequences that have ended."""

    def one(before: Any, after: Any) -> Any:
        return paddle.where(paddle.reshape(ended, [-1, *[1] * (after.ndim - 1)]), before, after)

    return packed(following, [one(a, b) for a, b in zip(leaves(states), leaves(following), strict=True)])
