"""Dropout: setting elements to zero at random."""

from __future__ import annotations

from ...core.errors import OperatorError
from ...core.spec import uint8
from ..opdef import Trait, op

UPSCALE, DOWNGRADE = "upscale_in_train", "downgrade_in_infer"

ATTRS = {
    "dropout_prob": 0.5,
    "is_test": False,
    "dropout_implementation": DOWNGRADE,
    "seed": 0,
    "fix_seed": False,
}


@op("dropout", "X Seed? -> Out Mask", attrs=ATTRS, trait=Trait.RANDOM)
def dropout(k, x, seed_tensor, *, dropout_prob, is_test, dropout_implementation, seed, fix_seed):
    """Zero each element with probability ``dropout_prob``; ``Mask`` is 1 where an element was kept.

    ``upscale_in_train`` multiplies the kept ones by ``1 / (1 - dropout_prob)`` and changes nothing in test form;
    ``downgrade_in_infer`` keeps them as they are and multiplies by ``1 - dropout_prob`` in test form.
    """
    xp = k.xp
    if is_test:
        return _scaled(x, dropout_prob, dropout_implementation, is_test), xp.ones(x.shape, xp.uint8)
    draws = k.draws(seed if fix_seed else 0) if seed_tensor is None else k.draws_of(seed_tensor)
    keep = draws.draw_mask(x.shape, dropout_prob)
    mask = keep.astype(xp.uint8)
    return _scaled(x * keep.astype(x.dtype), dropout_prob, dropout_implementation, is_test), mask


def _scaled(x, p, implementation, is_test):
    """*x* in the proportion that keeps its expectation, as the implementation has it."""
    if implementation == UPSCALE:
        return x if is_test or p >= 1 else x * (1 / (1 - p))
    return x * (1 - p) if is_test else x


@dropout.infer
def _(x, seed, *, dropout_prob, dropout_implementation):
    if not 0 <= dropout_prob <= 1:
        raise OperatorError(f"dropout: dropout_prob must lie between 0 and 1, but is {dropout_prob}")
    if dropout_implementation not in (UPSCALE, DOWNGRADE):
        raise OperatorError(
            f"dropout: dropout_implementation must be {UPSCALE!r} or {DOWNGRADE!r}, not {dropout_implementation!r}"
        )
    return x, x.replace_dtype(uint8)


@dropout.gradient(wrt="X")
def _(k, mask, dout, *, dropout_prob, is_test, dropout_implementation):
    passed = dout if is_test else dout * k.cast_like(mask, dout)
    return _scaled(passed, dropout_prob, dropout_implementation, is_test)


@dropout.samples
def _(make):
    yield make(x=(4, 5), dropout_prob=0.3, dropout_implementation=UPSCALE, seed=5, fix_seed=True)
    yield make(x=(4, 5), dropout_prob=0.3, dropout_implementation=DOWNGRADE, seed=6, fix_seed=True)
    yield make(x=(4, 5), dropout_prob=0.3, dropout_implementation=UPSCALE, is_test=True)
    yield make(x=(4, 5), dropout_prob=0.3, dropout_implementation=DOWNGRADE, is_test=True)
    yield make(x=(4, 5), dropout_prob=1.0, dropout_implementation=UPSCALE, seed=7, fix_seed=True)
    yield make(x=(), dropout_prob=0.5, dropout_implementation=UPSCALE, seed=8, fix_seed=True)
    yield make(x=(0, 3), dropout_prob=0.5, seed=9, fix_seed=True)
