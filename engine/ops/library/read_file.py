"""The bytes of a file."""

from __future__ import annotations

import os
from pathlib import Path

from ...core.spec import UNKNOWN, TensorSpec
from ..opdef import Trait, op


@op("read_file", "-> Out", attrs={"filename": ""}, trait=Trait.RANDOM, differentiable=False)
def read_file(k, *, filename):
    """The bytes of the file *filename*, read in every run: what is in it may change."""
    return k.xp.frombuffer(Path(filename).read_bytes(), "uint8").copy()


@read_file.infer
def _():
    return TensorSpec((UNKNOWN,), "uint8")


@read_file.samples
def _(make):
    yield make(filename=os.devnull)
