"""Names that somebody has chosen to break a report, from a model file to what ``check`` prints, in all twelve forms."""

from __future__ import annotations

import re

import pytest

from tests.cli.conftest import Run
from tests.viz.gate.test_hostile_names import FORMS, HOSTILE

NAMED = """\
import paddle
paddle.enable_static()
x = paddle.static.data("x", [2, 3])
w = paddle.static.create_parameter([3, 1], "float32", name={name!r})
loss = paddle.mean(paddle.matmul(x, w).detach())
"""


@pytest.mark.sampled(3, "form")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("what", ["a lone surrogate", "a workflow command", "new lines", "a screen", "right to left"])
def test_check_ends_as_usual(gradtool: Run, folder: object, form: str, what: str) -> None:
    """From a model file to what is printed: names go through fingerprints, orders and waivers on the way."""
    with open("m.py", "w", encoding="utf-8") as file:
        file.write(NAMED.format(name=HOSTILE[what]))
    done = gradtool("check", "m.py", "--format", form, "--out", f"{form}=out.txt")
    assert done.code in (0, 1), done.err
    with open("out.txt", encoding="utf-8", newline="") as file:
        assert file.read() == done.out


@pytest.mark.parametrize("form", [*FORMS, "--show-files"])
def test_a_file_with_the_name_of_a_command(gradtool: Run, folder: object, form: str) -> None:
    name = "::stop-commands::x.py"
    with open(name, "w", encoding="utf-8") as file:
        file.write(NAMED.format(name="w"))
    words = [form] if form.startswith("-") else ["--format", form]
    done = gradtool("check", f"./{name}", *words)
    assert done.code in (0, 1), done.err
    for line in done.out.splitlines():
        obeyed = line.lstrip().startswith("::")
        assert not obeyed or re.match(r"::(error|warning|notice) (file=[^,:]*,line=\d+,col=\d+,)?title=GT\d+ ", line)
