"""A repository of sixty small models, with a configuration, waivers and a baseline: what a gate has before it.

``python -m tests.repository`` writes what ``gradtool check`` says of it into ``tests/cli/golden/repository``.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Final

GOLDEN: Final = Path(__file__).parent / "cli" / "golden" / "repository"

RULES: Final = ("GT101", "GT103", "GT201", "GT902", "GT903", "GT904")
"""Those that are applied: named, so that a new rule changes nothing here."""

CONFIGURATION: Final = f"""\
[check]
select = {list(RULES)}
baseline = "baseline.json"
jobs = 2

[severities]
GT101 = "note"

[per-file-ignores]
"legacy" = ["GT1"]

[per-parameter-ignores]
"*.spare*" = ["unused-parameter"]

[[overrides]]
files = ["strict"]
severities = {{ GT101 = "error" }}

[[models]]
target = "configured/train.py"
name = "train, narrow"
arguments = ["--width", "2"]

[[models]]
target = "configured/train.py"
name = "train, cut"
arguments = ["--width", "3", "--cut"]
"""

LAYERS: Final = """\
\"\"\"What models share.\"\"\"


def cut(x):
    return x.detach()  # gradtool: ignore[GT103] what is cut here is trained elsewhere
"""

TRAIN: Final = """\
import argparse

import paddle

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, required=True)
parser.add_argument("--cut", action="store_true")
arguments = parser.parse_args()

encoder = paddle.nn.Linear(4, arguments.width)
head = paddle.nn.Linear(arguments.width, 1)
code = encoder(paddle.rand([8, 4]))
if arguments.cut:
    code = code.detach()
head(code).mean().backward()
"""

HEAD: Final = """\
# gradtool: model seed={number}
import paddle

encoder = paddle.nn.Linear(4, {width})
head = paddle.nn.Linear({width}, 1)
"""
TAIL: Final = "loss = head(code).mean()\nloss.backward()\n"
WHOLE: Final = "code = encoder(paddle.rand([8, 4]))\n"
CUT: Final = "code = encoder(paddle.rand([8, 4])).detach()\n"
SPARE: Final = """\
class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.{name} = paddle.nn.Linear(2, 2)

net = Net()
net.train()
code = encoder(paddle.rand([8, 4]))
"""

KINDS: Final = {
    "right": (16, WHOLE),
    "waived": (8, CUT.replace("\n", "  # gradtool: ignore[detached] the encoder is trained elsewhere\n")),
    "shared": (6, "from layers import cut\n\ncode = cut(encoder(paddle.rand([8, 4])))\n"),
    "known": (8, CUT),
    "legacy": (6, CUT),
    "new": (3, CUT),
    "spare": (2, SPARE.format(name="spare")),
    "strict": (2, SPARE.format(name="extra")),
    "unused": (2, WHOLE.replace("\n", "  # gradtool: ignore[GT103] not cut any more\n")),
    "nan": (2, "code = paddle.log(encoder(paddle.rand([8, 4])) * 0 - 1)\n"),
    "raises": (2, "code = encoder(paddle.rand([8, 5]))\n"),
    "ends": (1, "import os\n\nos._exit(3)\n"),
}
"""By folder, how many models, and what stands between head and tail."""


def write(folder: Path) -> None:
    """Write the repository: 58 files that say that they are models, and one that is configured twice."""
    number = 0
    for kind, (count, middle) in KINDS.items():
        (folder / kind).mkdir(parents=True)
        for n in range(count):
            text = HEAD.format(number=number, width=2 + number % 5) + middle + TAIL
            (folder / kind / f"{kind}_{n:02}.py").write_text(text, encoding="utf-8")
            number += 1
    (folder / "shared" / "layers.py").write_text(LAYERS, encoding="utf-8")
    (folder / "configured").mkdir()
    (folder / "configured" / "train.py").write_text(TRAIN, encoding="utf-8")
    (folder / "gradtool.toml").write_text(CONFIGURATION, encoding="utf-8")


def words(out: str) -> list[str]:
    """The command line that writes every form into a folder, over every model."""
    from gradtool.viz import gate

    forms = [word for form in gate.names() for word in ("--out", f"{form}={out}/{form}.txt")]
    return ["check", ".", "--format", "concise", *forms]


BASELINE: Final = ("check", "known", "--write-baseline")


def main() -> None:
    """Write the golden files anew."""
    from gradtool.cli.main import main as gradtool

    GOLDEN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        os.chdir(folder)
        for line in (BASELINE, words(str(GOLDEN))):
            try:
                gradtool(line)
            except SystemExit as left:
                print(left.code, file=sys.stderr)
        (GOLDEN / "baseline.json").write_text(Path("baseline.json").read_text(encoding="utf-8"), encoding="utf-8")
        os.chdir("/")


if __name__ == "__main__":
    main()
