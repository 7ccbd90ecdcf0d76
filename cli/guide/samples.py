"""The models that come with gradtool, to try things on: a file each in ``samples/``, with its command in its docstring.

They end in ``.txt`` there, since they are data of the package and none of its modules.
"""

from __future__ import annotations

import os

from gradtool.engine.core.records import dataclass

FOLDER = os.path.join(os.path.dirname(__file__), "samples")

ENDING = ".txt"


@dataclass(frozen=True)
class SampleModel:
    """A model to try things on.

    Attributes:
        name: of the file, without ``.py``.
        about: what is the matter with it, in a sentence.
        command: what to ask about it first.
        answer: words of what that says.
        text: the file.
    """

    name: str
    about: str
    command: str
    answer: str
    text: str

    @property
    def file(self) -> str:
        """Name of the file where it is copied to."""
        return f"{self.name}.py"


def names() -> list[str]:
    """The names of the samples, in order."""
    return sorted(file.removesuffix(ENDING) for file in os.listdir(FOLDER) if file.endswith(ENDING))


def sample(name: str) -> SampleModel:
    """The sample of a name, which is one of :func:`names`."""
    with open(os.path.join(FOLDER, name + ENDING), encoding="utf-8") as file:
        text = file.read()
    about, _, command, answer, *_ = text.removeprefix('"""').split("\n")
    return SampleModel(name, about, command.removeprefix("Try  "), answer.removeprefix("Says "), text)
