"""Names that somebody could give to variables, layers and files to break what shows them."""

from __future__ import annotations

from random import Random

PIECES = (
    *(
        "x",
        "w_0",
        "@GRAD",
        "fc.w",
        "a/b",
        "..",
        " ",
        "  ",
        "-",
        "--help",
        "=",
        ",",
        ";",
        ":",
        "%",
        "$HOME",
        "`id`",
        "!",
        "~",
    ),
    *(
        '"',
        "'",
        "\\",
        '\\"',
        "\\n",
        "\\l",
        "<",
        ">",
        "&",
        "&amp;",
        "&#60;",
        "<b>",
        "</script>",
        "<!--",
        "-->",
        "]]>",
        "<![CDATA[",
    ),
    *(
        "<img src=x onerror=alert(1)>",
        '" onload="alert(1)',
        "javascript:alert(1)",
        "<script>alert(1)</script>",
        "</svg>",
    ),
    *(
        "{",
        "}",
        "{}",
        "[",
        "]",
        "(",
        ")",
        "|",
        "||",
        "\\|",
        "#",
        "#35;",
        "*",
        "**",
        "_",
        "__",
        "~~~",
        "```",
        "end",
        "%%",
        "---",
    ),
    *("\n", "\r", "\t", "\0", "\x07", "\x08", "\x1b[2J", "\x1b]0;t\x07", "\x7f", "\x85", "\x9b31m", "\u2028", "\u2029"),
    *(
        "\u202e",
        "\u2066",
        "\u200f",
        "\u200b",
        "\ufeff",
        "\ufffe",
        "\uffff",
        "\ud800",
        "\udfff",
        "\U0010ffff",
        "\U000e0041",
    ),
    *(
        "é",
        "e\u0301",
        "字",
        "😀",
        "ß",
        "İ",
        "ﬁ",
        "a" * 200,
        "b" * 3000,
        "None",
        "null",
        "true",
        "0",
        "-1",
        "1e5",
        "=1+1",
        "@SUM",
    ),
)


def name(draw: Random) -> str:
    """One to six pieces."""
    return "".join(draw.choice(PIECES) for _ in range(draw.choice((1, 1, 2, 3, 6))))


def names(count: int, draw: Random) -> list[str]:
    """That many different names, none of them empty."""
    distinct: dict[str, None] = {}
    while len(distinct) < count:
        distinct[name(draw)] = None
    return list(distinct)
