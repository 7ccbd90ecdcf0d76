"""Inverse matrices, systems of equations, determinants, norms and covariances."""

from __future__ import annotations

import itertools

from ..drawing import Draw
from ..table import row

HERE = "linalg"


def sines(g: Draw, size: int) -> str:
    """A square matrix of numbers between -1 and 1."""
    return f"paddle.sin({g.tensor([size, size], 'float32', 'positive')})"


def matrix(g: Draw, size: int) -> str:
    """A matrix that is far from singular: three on the diagonal beside numbers of a sine's size."""
    return f"{sines(g, size)} + 3.0 * paddle.eye({size}, dtype='float32')"


def definite(g: Draw) -> str:
    """A symmetric matrix whose eigenvalues are positive and far from each other."""
    size = g.count(1, 3)
    numbers = sines(g, size)
    steps = f"paddle.diag(paddle.arange(3.0, {3 + 4 * size}.0, 4.0))"
    return f"0.2 * ({numbers} + paddle.transpose({numbers}, [1, 0])) + {steps}"


@row("inverse")
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({matrix(g, g.count(1, 3))})"


@row("inv det slogdet svdvals cond pinv", within=HERE)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({matrix(g, g.count(1, 3))})"


@row("matrix_power", within=HERE)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({matrix(g, g.count(1, 3))}, {g.count(0, 3)})"


@row("solve triangular_solve cholesky_solve", within=HERE)
def _(g: Draw, name: str) -> str:
    size = g.count(1, 3)
    systems, right = matrix(g, size), str(g.tensor([size, g.count(1, 2)], "float32"))
    first, second = (right, systems) if name.endswith("cholesky_solve") else (systems, right)
    return f"paddle.{name}({first}, {second})"


@row("cholesky_inverse", within=HERE)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({matrix(g, g.count(1, 3))}, {g.chance(0.5)})"


@row("multi_dot", within=HERE)
def _(g: Draw, name: str) -> str:
    sizes = [g.count(1, 3) for _ in range(4)]
    matrices = [str(g.tensor([m, n], "float32")) for m, n in itertools.pairwise(sizes)]
    return f"paddle.{name}([{', '.join(matrices)}])"


@row("norm vector_norm matrix_norm cov corrcoef", within=HERE)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.tensor([g.count(2, 3), g.count(2, 4)], 'float32')})"


@row("svd", within=HERE)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({matrix(g, g.count(1, 3))})[1]"


@row("cholesky eigvalsh")
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({definite(g)})"


@row("cholesky eigvalsh matrix_rank", within=HERE)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({definite(g)})"


@row("eigh lu", within=HERE)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({definite(g)})[0]"


@row("matrix_exp", within=HERE)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}(paddle.sin({g.tensor([2, 2], 'float32')}))"


@row("matmul cross vecdot", within=HERE)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.tensor([3, 3], 'float32')}, {g.tensor([3, 3], 'float32')})"


@row("diagonal matrix_transpose", within=HERE)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.tensor(low=2)})"
