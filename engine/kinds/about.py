"""Subject of an answer, and the parts that pictures of it are made of: plain data about a model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from ..core.records import dataclass
from ..core.source import Location, file_named
from ..core.vocabulary import Vocabulary, current
from ..view.graph import GraphView
from .other_losses import Other
from .watched_extent import WatchedPart


@dataclass(frozen=True, slots=True)
class About:
    """Subject of an answer.

    Attributes:
        name: the model's, for people.
        mode: ``static`` or ``eager``.
        words: those of a command line that load it again.
        dropped: parameters that were made, that nobody holds and the loss does not depend on.
        scope: how much of the file was seen.
        others: the backward passes of other losses of the file, which the answer says nothing of.
        vocabulary: the words of the framework that the file is written for.
        together: the other backward passes of the same step, which the answer is about as well.
    """

    name: str
    mode: str
    words: Sequence[str]
    dropped: Sequence[str] = ()
    scope: WatchedPart = field(default_factory=WatchedPart)
    others: Sequence[Other] = ()
    vocabulary: Vocabulary = field(default_factory=current)
    together: Sequence[Other] = ()

    @property
    def file(self) -> str:
        """Name of the model for programs: the path of its file from the working folder, else its name."""
        for word in self.words[:2]:
            for path in (word, word.rpartition(":")[0]):
                if path and os.path.basename(path) == self.name:
                    return file_named(path)
        return self.name


@dataclass(frozen=True, slots=True)
class ModelGraph:
    """Parts that pictures of a model are made of.

    Attributes:
        locations: where the operators of the view were called, one for each, in its order.
        facts: what the manifest of a dump says of it.
    """

    view: GraphView
    locations: Sequence[Location]
    facts: Mapping[str, Any]
