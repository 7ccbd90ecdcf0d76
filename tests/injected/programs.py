"""Right programs that faults are put into: the corpora, and models of the zoo with a training where they have none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[1]

TRAINING = """

if __name__ == "__main__":
    paddle.seed(0)
    net = network()
    opt = paddle.optimizer.Adam(learning_rate=0.001, parameters=net.parameters())
    for _ in range(3):
        value = loss(net)
        value.backward()
        opt.step()
        opt.clear_grad()
"""


@dataclass(frozen=True)
class Program:
    """A right program.

    Attributes:
        name: what the tables call it.
        source: its text.
        folder: where its own modules and files are found.
    """

    name: str
    source: str
    folder: Path


def programs() -> list[Program]:
    """Return the right programs of Paddle that run by themselves."""
    found = []
    for folder in ("scripts/correct", "corpus/correct", "zoo/models"):
        for path in sorted((TESTS / folder).glob("*.py")):
            source = path.read_text(encoding="utf-8")
            if folder.startswith("zoo"):
                if "def network(" not in source or "def loss(net" not in source:
                    continue
                source = re.sub(r"(?ms)^def build\(.*?(?=^\S|\Z)", "", source).rstrip() + "\n"
                source += "" if "__main__" in source and "optimizer." in source else TRAINING
            if path.name == "__init__.py" or "# arguments" in source or "# module" in source:
                continue
            found.append(Program(f"{folder.partition('/')[0]}.{path.stem}", source, path.parent))
    return found


def programs_of_torch() -> list[Program]:
    """Return the right programs of PyTorch: training scripts after public ones, and the corpus of small ones."""
    paths = [*sorted((TESTS / "torch/training").glob("*.py")), *sorted((TESTS / "torch/corpus").glob("r_*.py"))]
    return [Program(f"torch.{p.stem}", p.read_text(encoding="utf-8"), p.parent) for p in paths]
