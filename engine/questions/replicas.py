"""``diff --mesh``: what differs between a step on one device and the same step on several that share the rows."""

from __future__ import annotations

from dataclasses import field, fields

from ..answers.replicas import comparing
from ..core.answer import Answered
from ..core.command_errors import CommandError
from ..core.device_requests import asked
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..core.vocabulary import Vocabulary, current
from ..request.options import Cuts, Debug
from ..request.request import Request
from .backward import Backward
from .sides import SideRequest, side
from .sides.side import VALUES


@dataclass(frozen=True, slots=True)
class OnReplicas(comparing.ReplicaStep, Answered):
    """A step of a model as several replicas compute it.

    Attributes:
        title: of the model.
        vocabulary: the words of the framework that it is written for.
    """

    title: str = field(kw_only=True)
    vocabulary: Vocabulary = field(kw_only=True, default_factory=current)

    @property
    def findings(self) -> int:
        return len(self.operators) + len(self.wrong)


@dataclass(frozen=True, kw_only=True)
class Replicas(Cuts):
    """Options of the question about replicas.

    Attributes:
        mesh: ``data=8``.
        feed: a file of arrays to feed.
    """

    mesh: str
    feed: str | None = None

    def ask(self, model: str, request: Request, notes: Notes = SILENT) -> OnReplicas:
        """Run the model, and compute each operator again as every replica would.

        Raises:
            CommandError: the mesh has other axes, the rows cannot be shared out, or *model* holds no values.
            ModelError: the user's code raised.
            GradtoolError: the engine refused.
        """
        count = _replicas(self.mesh)
        of = side(model)
        of.must_have(VALUES)
        wanted = SideRequest(
            Backward(params=self.params, no_grad=self.no_grad),
            debug=Debug(params=self.params, no_grad=self.no_grad, feed=self.feed),
            outline=False,
        )
        with asked.record():
            run = of.seen(wanted, request, notes).the_run
            program = run.lowered.program if run.lowered is not None else None
            try:
                found = comparing.compare(
                    run,
                    count,
                    exchanged=asked.exchanged,
                    exchanged_values={comparing.fingerprint(a) for a in asked.reduced},
                    synchronised=asked.synchronised,
                    seeded=asked.has_shared_seed or bool(program is not None and program.random_seed),
                )
            except comparing.NoRows as error:
                raise CommandError(str(error), "the batch is what is fed, or what data the script has made") from None
        return OnReplicas(title=run.title, **{f.name: getattr(found, f.name) for f in fields(found)})


def _replicas(mesh: str) -> int:
    name, _, size = mesh.partition("=")
    if name.strip() != "data" or not size.strip().isdecimal() or int(size) < 2:
        raise CommandError(
            f"replicas share the rows of a batch: --mesh data=N with N of 2 or more, but received {mesh!r}",
            "--mesh data=8 asks what eight processes would compute",
        )
    return int(size)
