"""Calls of public functions with combinations of their keywords, drawn from what the functions take.

Each function that takes what the table of operands has is called without keywords, with each value of each keyword
alone, and with some combinations. Which functions those are follows from their signatures, so that new ones join by
themselves.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator
from typing import Any

from gradtool import paddle
from tests.keywords.outcome import outcome

MODULES = ("paddle", "paddle.linalg", "paddle.nn.functional", "paddle.fft")
COMBINATIONS = 5
"""Drawn for each function and operand."""
MOST = 36
"""Calls of one function; of more, a sample."""

FIRST: dict[str, tuple[str, ...]] = {
    "x": ("x", "ties", "gaps", "i", "b", "mask"),
    "input": ("x", "ties", "i", "mask"),
    "input_x": ("x",),
    "A": ("m",),
    "a": ("x",),
    "arr": ("x",),
}
"""By the name of a function's first argument: what is given."""
SQUARE = ("m", "paddle.matmul(b, d)", "paddle.matmul(m, paddle.transpose(m, [1, 0]))")
OPERANDS: dict[str, tuple[str, ...]] = {
    "cholesky": SQUARE[2:],
    "cond": SQUARE[:1],
    "det": SQUARE,
    "eigh": SQUARE[2:],
    "eigvals": (*SQUARE, "zm", "six[:, :3]", "d[:, :3]", "x[:2, :2]"),
    "eigvalsh": SQUARE[2:],
    "inv": SQUARE,
    "lu": (*SQUARE, "x", "b"),
    "matrix_exp": SQUARE,
    "matrix_norm": ("x", "b"),
    "matrix_power": SQUARE,
    "matrix_rank": (*SQUARE, "x", "b"),
    "pinv": (*SQUARE, "x", "b"),
    "slogdet": SQUARE,
    "svdvals": ("x", "b"),
    "vector_norm": ("x", "b"),
    "norm": ("x", "b"),
    "unique_consecutive": ("runs", "ties", "pairs"),
    "bincount": ("counts",),
    "logit": ("share",),
}
"""By the name of a function: what is given first where not everything will do."""
FURTHER = {
    "y": "y",
    "other": "y",
    "label": "y",
    "index": "at",
    "k": "2",
    "n": "2",
    "q": "0.3",
    "num_or_sections": "2",
    "perm": "[1, 0]",
    "shape": "[4, 3]",
    "repeat_times": "[2, 1]",
    "repeats": "2",
    "shifts": "1",
    "vec": "v",
    "vec2": "v",
    "mat2": "paddle.transpose(y, [1, 0])",
    "weight": "share",
    "indices": "places",
    "dim": "0",
    "axis": "0",
    "condition": "mask",
    "sorted_sequence": "sorted",
    "values": "y",
    "pad": "[1, 1]",
    "num_classes": "6",
    "boundaries": "sorted",
}
"""By the name of a further argument that a call needs: what is given."""
PAIRS: dict[str, str] = {
    "bitwise_left_shift": "i, shifts * 21 | i, -shifts",
    "bitwise_right_shift": "signed, shifts * 21 | signed, -shifts",
    "lstsq": "x, three[:, None] | d, d * 2 | b, b + 1 | d[None], d[None] | few, few",
    "searchsorted": "sorted, x",
    "bucketize": "x, sorted",
    "cross_entropy": "x, at[again - again]",
    "solve": "m, x",
    "histogram": "x",
    "take_along_axis": "x, places, 1",
    "put_along_axis": "x, places, 2.0, 1",
    "kthvalue": "ties, 2",
    "topk": "ties, 2",
    "isin": "i, j",
    "cov": "x",
    "corrcoef": "x",
    "binary_cross_entropy": "share, unit * unit",
    "nll_loss": "x, at[again - again]",
    "one_hot": "counts",
    "cosine_embedding_loss": "x, y, paddle.sign(three)",
    "margin_ranking_loss": "x, y, paddle.sign(x)",
    "triplet_margin_loss": "x, y, x + 1",
    "mode": "ties",
    "argmax": "gaps | ties | edges | i | b",
    "argmin": "gaps | ties | edges | i | b",
    "matrix_rank": "m | x | b | zm | paddle.matmul(b, d) | paddle.matmul(m, paddle.transpose(m, [1, 0]))",
}
"""By the name of a function: what is given where names of arguments do not say it."""

VALUES: dict[str, tuple[str, ...]] = {
    "axis": ("None", "0", "1", "-1", "[0, 1]", "[1]", "[]"),
    "dim": ("0", "1", "-1"),
    "keepdim": ("True",),
    "dtype": ("'float32'", "'int32'", "'int64'"),
    "mode": ("'min'", "'avg'", "'wrap'", "'clip'"),
    "descending": ("True",),
    "stable": ("True",),
    "largest": ("False",),
    "sorted": ("False",),
    "right": ("True",),
    "out_int32": ("True",),
    "unbiased": ("False",),
    "ddof": ("False",),
    "rowvar": ("False",),
    "hermitian": ("True",),
    "tol": ("0.5", "paddle.abs(s)", "paddle.abs(v[:2])"),
    "atol": ("0.5", "paddle.abs(s)"),
    "rtol": ("0.1", "paddle.abs(s)"),
    "rcond": ("0.2",),
    "p": ("None", "1", "2", "0", "'fro'", "'nuc'", "float('inf')", "-float('inf')", "-1", "-2", "3.0"),
    "full_matrices": ("True",),
    "UPLO": ("'U'",),
    "get_infos": ("True",),
    "pivot": ("True",),
    "upper": ("True",),
    "driver": ("'gels'", "'gelsy'", "'gelss'"),
    "return_index": ("True",),
    "return_inverse": ("True",),
    "return_counts": ("True",),
    "return_mask": ("True",),
    "is_arithmetic": ("False",),
    "as_tuple": ("True",),
    "invert": ("True",),
    "assume_unique": ("True",),
    "interpolation": ("'lower'", "'higher'", "'nearest'", "'midpoint'"),
    "offset": ("1", "-1"),
    "diagonal": ("1", "-1"),
    "n": ("0", "1", "2", "3", "-1"),
    "decimals": ("1", "-1"),
    "reduction": ("'sum'", "'none'", "'mean'"),
    "ignore_index": ("0", "-100"),
    "label_smoothing": ("0.1",),
    "soft_label": ("True",),
    "use_softmax": ("False",),
    "norm": ("'ortho'", "'forward'"),
    "min": ("-0.5", "0"),
    "max": ("0.5", "1"),
    "bins": ("3",),
    "density": ("True",),
    "minlength": ("10",),
    "epsilon": ("0.1",),
    "delta": ("0.5",),
    "alpha": ("0.5", "2"),
    "beta": ("0.5", "2"),
    "threshold": ("0.5",),
    "approximate": ("True",),
    "prepend": ("y",),
    "append": ("y",),
    "dx": ("0.5",),
    "transpose_x": ("True",),
    "transpose_y": ("True",),
    "equal_nan": ("True",),
    "shifts": ("2", "-1"),
    "shift_right": ("True",),
    "include_self": ("False",),
    "reduce": ("'add'", "'mul'", "'amax'", "'mean'"),
    "nan": ("1.5",),
    "posinf": ("2.0",),
    "log_input": ("True",),
    "log_target": ("True",),
    "full": ("True",),
    "correction": ("0", "2"),
    "rounding_mode": ("'floor'", "'trunc'"),
    "value": ("2.0",),
}
"""By the name of a keyword: values that are drawn."""

LEFT = {
    "random": "bernoulli bernoulli_ binomial multinomial poisson rand randn randint randint_like rand_like randn_like "
    "randperm normal standard_normal standard_gamma uniform gumbel_softmax dropout dropout1d dropout2d dropout3d "
    "alpha_dropout feature_alpha_dropout rrelu log_normal empty empty_like shuffle",
    "of no tensor, or of all that there is": "set_printoptions summary save load flops grad seed no_grad",
    "Paddle's signs of vectors are LAPACK's: tests/paddle/linalg": "svd eig eigh qr svd_lowrank pca_lowrank ormqr",
    "without an inverse": "cholesky_inverse",
}
_LEFT = {name for names in LEFT.values() for name in names.split()}


def functions() -> Iterator[tuple[str, Any, list[inspect.Parameter]]]:
    """Yield every public function of tensors that takes a keyword of the table: its text, itself, its parameters."""
    for module in MODULES:
        owner: Any = paddle
        for part in module.split(".")[1:]:
            owner = getattr(owner, part)
        for name in sorted(dir(owner)):
            function = getattr(owner, name, None)
            if name.startswith("_") or name.endswith("_") or name in _LEFT or not _is_function(function):
                continue
            parameters = list(inspect.signature(function).parameters.values())
            named = [p for p in parameters if p.default is not p.empty and p.name in VALUES]
            if parameters and named:
                yield f"{module}.{name}", function, parameters


def _is_function(value: Any) -> bool:
    return callable(value) and not inspect.isclass(value) and not inspect.ismodule(value)


def starts(name: str, parameters: list[inspect.Parameter]) -> Iterator[str]:
    """Yield the positional arguments of calls, as text."""
    short = name.rpartition(".")[2]
    if short in PAIRS:
        yield from PAIRS[short].split(" | ")
        return
    needed = [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    given = OPERANDS.get(short) or FIRST.get(needed[0] if needed else "", ())
    rest = [FURTHER.get(n) for n in needed[1:]]
    if None in rest:
        return
    for first in given:
        yield ", ".join([first, *map(str, rest)])


def drawn(name: str, parameters: list[inspect.Parameter]) -> list[str]:
    """The calls of one function."""
    source = random.Random(name)
    keywords = [p.name for p in parameters if p.default is not p.empty and p.name in VALUES]
    calls: dict[str, None] = {}
    for start in starts(name, parameters):
        calls[f"{name}({start})"] = None
        for keyword in keywords:
            for value in VALUES[keyword]:
                calls[f"{name}({start}, {keyword}={value})"] = None
        for _ in range(COMBINATIONS if len(keywords) > 1 else 0):
            some = [k for k in keywords if source.random() < 0.6]
            chosen = ", ".join(f"{k}={source.choice(VALUES[k])}" for k in some)
            calls[f"{name}({start}, {chosen})" if chosen else f"{name}({start})"] = None
    return list(calls) if len(calls) <= MOST else sorted(source.sample(list(calls), MOST))


def calls() -> Iterator[str]:
    """Yield the calls of all functions that gradtool carries out for some operand."""
    for name, _, parameters in functions():
        texts = drawn(name, parameters)
        if any(map(runs, texts)):
            yield from texts


def runs(text: str) -> bool:
    """Whether gradtool carries out a call."""
    return "refused" not in outcome(paddle, text)
