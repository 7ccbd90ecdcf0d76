"""Rows: complex numbers, made of real parts and taken apart again, so that gradients by both parts are compared."""

from __future__ import annotations

from .rows import Row, between, normal, row


def parted(name: str, ours: str, theirs: str | None = None, shape: tuple[int, ...] = (3, 4)) -> Row:
    """A row on ``z = a + ib`` (and ``w = c + id``, where the expression uses it) whose result is complex."""
    both = theirs if theirs is not None else ours.replace("paddle.", "torch.")
    inputs = {"a": normal(*shape), "b": normal(*shape)}
    if "w" in ours.replace("pow", ""):
        inputs |= {"c": normal(*shape), "d": normal(*shape)}

    def filled(text: str, library: str) -> str:
        for v, x, y in (("z", "a", "b"), ("w", "c", "d")):
            text = _word(text, v, f"{library}.complex({x}, {y})")
        return text

    return row(
        f"complex {name}",
        f"paddle.as_real({filled(ours, 'paddle')})",
        f"torch.view_as_real(torch.resolve_conj({filled(both, 'torch')}))",
        **inputs,
    )


def _word(text: str, word: str, by: str) -> str:
    """*text* with the name *word* replaced."""
    parts = []
    for part in text.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split():
        parts.append(by if part == word else part)
    return " ".join(parts)


SAME = (
    "cos cosh exp expm1 log log10 log1p log2 reciprocal rsqrt sigmoid sin sinh sqrt square tan tanh asin acos atan "
    "asinh atanh conj neg"
)

UNARY = [
    *(parted(n, f"{'F' if n == 'sigmoid' else 'paddle'}.{n}( z )", f"torch.{n}( z )") for n in SAME.split()),
    row("complex abs", "paddle.abs(paddle.complex(a, b))", a=normal(3, 4), b=normal(3, 4)),
    row("complex angle", "paddle.angle(paddle.complex(a, b))", a=normal(3, 4), b=normal(3, 4)),
    row("complex real", "paddle.real(paddle.square(paddle.complex(a, b)))", a=normal(3, 4), b=normal(3, 4)),
    row("complex imag", "paddle.imag(paddle.square(paddle.complex(a, b)))", a=normal(3, 4), b=normal(3, 4)),
    row("angle of real numbers", "paddle.angle(x)", x=normal(3, 4)),
    parted("pow number", "paddle.pow( z , 2.5 )"),
    parted("pow whole number", "paddle.pow( z , 3 )"),
    parted("scale", "paddle.scale( z , 2.5 , 0.5 )", "z * 2.5 + 0.5"),
    parted("times a number", "z * (0.5-2j) + 1j", "z * ( 0.5-2j ) + 1j"),
    parted("number divided by it", "2j / z"),
    row(
        "polar",
        "paddle.as_real(paddle.polar(x, y))",
        "torch.view_as_real(torch.polar(x, y))",
        x=between(0.5, 2, 3, 4),
        y=normal(3, 4),
    ),
    row(
        "as_complex",
        "paddle.as_real(paddle.square(paddle.as_complex(x)))",
        "torch.view_as_real(torch.square(torch.view_as_complex(x)))",
        x=normal(3, 4, 2),
    ),
    row(
        "acosh left of the imaginary axis",
        "paddle.as_real(paddle.acosh(paddle.complex(a, b)))",
        "torch.view_as_real(torch.acosh(torch.complex(a, b)))",
        a=between(-3, -1.5, 3, 4),
        b=between(0.3, 2, 3, 4),
    ),
]

BINARY = [
    *(parted(n, f"paddle.{n}( z , w )") for n in ("add", "subtract", "multiply", "divide", "pow")),
    parted("operators", "z * w - w / z + w"),
    parted("matmul", "paddle.matmul( z , paddle.transpose( w , [1, 0] ) )", "torch.matmul( z , w .T )"),
    parted("matmul transposed", "paddle.matmul( z , w , True , False )", "torch.matmul( z .T , w )"),
    parted("matmul of vectors", "paddle.matmul( z , w )", shape=(4,)),
    parted("bmm", "paddle.bmm( z , w )", shape=(2, 3, 3)),
    parted("einsum", "paddle.einsum('ij,ij->i', z , w )"),
    parted("dot", "paddle.dot( z , w )", shape=(4,)),
    parted("add_n", "paddle.add_n( [ z , w , z ] )", "z + w + z"),
    parted("concat", "paddle.concat( [ z , w ] , 1 )"),
    parted("where", "paddle.where( paddle.real( z ) > 0 , z , w )"),
    row(
        "complex times real",
        "paddle.as_real(paddle.exp(paddle.complex(a, b)) * x)",
        "torch.view_as_real(torch.exp(torch.complex(a, b)) * x)",
        a=normal(3, 4),
        b=normal(3, 4),
        x=normal(4),
    ),
    row(
        "real divided by complex",
        "paddle.as_real(x / paddle.complex(a, b))",
        "torch.view_as_real(x / torch.complex(a, b))",
        a=normal(3, 4),
        b=normal(3, 4),
        x=normal(4),
    ),
    row(
        "complex parts broadcast",
        "paddle.as_real(paddle.square(paddle.complex(a, b)))",
        "torch.view_as_real(torch.square(torch.complex(*torch.broadcast_tensors(a, b))))",
        a=normal(3, 1),
        b=normal(4),
    ),
    row(
        "real part of a cast",
        "paddle.cast(paddle.exp(paddle.complex(a, b)), 'float64') + paddle.real(paddle.cast(a, 'complex128') ** 2)",
        "torch.exp(torch.complex(a, b)).real + (a.to(torch.complex128) ** 2).real",
        a=between(0.3, 2, 3, 4),
        b=normal(3, 4),
    ),
]

REDUCTIONS = [
    parted("sum", "paddle.sum( z , 1 )"),
    parted("mean", "paddle.mean( z )"),
    parted("prod", "paddle.prod( z , 1 )"),
    parted("cumsum", "paddle.cumsum( z , 0 )"),
]

ARRAYS = [
    parted("reshape", "paddle.reshape( paddle.square( z ) , [2, 6] )"),
    parted("transpose", "paddle.transpose( paddle.square( z ) , [1, 0] )", "torch.square( z ).T"),
    parted("index", "paddle.square( z )[1:, ::2]"),
    parted("gather", "paddle.gather( z , paddle.assign([2, 0, 2]) )", "z [[2, 0, 2]]"),
    parted("stack and tile", "paddle.tile( paddle.stack( [ z , z * z ] ) , [2, 1, 1] )"),
    parted("expand", "paddle.expand( z , [2, 3, 4] )", "z .expand(2, 3, 4)"),
    parted("tril", "paddle.tril( z )"),
    parted("flip", "paddle.flip( z , [1] )"),
    parted("pad", "paddle.nn.functional.pad( z , [1, 2, 0, 1] )", "F.pad( z , (0, 1, 1, 2) )"),
]

ROWS = [*UNARY, *BINARY, *REDUCTIONS, *ARRAYS]
