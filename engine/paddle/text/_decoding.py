"""The likeliest sequence of tags."""

from __future__ import annotations

from typing import Any

from gradtool.paddle._dispatch import apply
from gradtool.paddle.nn.layer import Layer


def viterbi_decode(
    potentials: Any, transition_params: Any, lengths: Any, include_bos_eos_tag: bool = True, name: str | None = None
) -> Any:
    """The sequence of tags with the largest sum of potentials and transitions, and that sum.

    Args:
        potentials: ``[batch, steps, tags]``.
        transition_params: ``[tags, tags]``, from the row's tag to the column's.
        lengths: ``[batch]``, where each sequence ends.
        include_bos_eos_tag: the last row of *transition_params* leads from the start of a sequence, the one before
            to its end.

    Returns:
        The sums ``[batch]`` and the tags ``[batch, the longest length]``.

    >>> from gradtool import paddle
    >>> scores = paddle.to_tensor([[[1.0, 0.0], [0.0, 2.0]]])
    >>> best, path = paddle.text.viterbi_decode(scores, paddle.zeros([2, 2]), paddle.to_tensor([2]), False)
    >>> best.tolist(), path.tolist()
    ([3.0], [[0, 1]])
    """
    attrs = {"include_bos_eos_tag": include_bos_eos_tag}
    return apply("viterbi_decode", potentials, transition_params, lengths, attrs=attrs, name=name)


class ViterbiDecoder(Layer):
    """:func:`viterbi_decode` with *transitions* ``[tags, tags]``; called with potentials and lengths."""

    def __init__(self, transitions: Any, include_bos_eos_tag: bool = True, name: str | None = None) -> None:
        super().__init__()
        self.transitions, self.include_bos_eos_tag, self.name = transitions, include_bos_eos_tag, name

    def forward(self, potentials: Any, lengths: Any) -> Any:
        return viterbi_decode(potentials, self.transitions, lengths, self.include_bos_eos_tag, self.name)
