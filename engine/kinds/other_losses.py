"""The losses of a file that a question about one of them leaves out."""

from __future__ import annotations

from typing import Any

from ..core.command_errors import CommandError
from ..core.errors import GradtoolError
from ..core.records import dataclass


@dataclass
class Other:
    """The last backward pass of another line of the file.

    Attributes:
        loss: what the user's code calls the loss; where it has no name, the line of the call.
        number: what ``--backward`` takes.
        findings: how many there are about it; None as long as nobody has looked.
        refused: why it could not be looked at, where somebody tried.
        has_own_rules: whether gradients of it come from rules of the user's own.
    """

    loss: str
    number: int
    findings: int | None = None
    refused: CommandError | GradtoolError | None = None
    has_own_rules: bool = False

    def data(self) -> dict[str, Any]:
        """The pass in JSON's types."""
        return {"loss": self.loss, "backward": self.number, "findings": self.findings}
