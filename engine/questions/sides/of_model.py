"""Sides that are models: loaded once for all that is wanted of them."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence

from ...answers.diff import of_timeline
from ...core.notes import SILENT, Notes
from ...core.wording import plain
from ...kernels import choice
from ...kinds.other_losses import Other
from ...loading import loader, opening, recording, revisions
from ...request.request import Request
from ...runs.recorder import Recorder
from .side import Side, SideAnswer, SideRequest


class OfModel(Side):
    """Whatever a command takes as MODEL, and ``FILE@REVISION`` for a file as git holds it."""

    @classmethod
    def claims(cls, text: str) -> bool:
        """As in the base: what nothing else claims."""
        return True

    @property
    def title(self) -> str:
        """As in the base."""
        return self.text if revisions.is_revision(self.text) else super().title

    @property
    def further(self) -> list[str]:
        """As in the base."""
        return [] if revisions.is_revision(self.text) else ["gradtool", "graph", self.text]

    @contextlib.contextmanager
    def open_request(self, request: Request) -> Iterator[Request]:
        """As in the base."""
        file = revisions.check_out(self.text) if revisions.is_revision(self.text) else None
        with file or contextlib.nullcontext(self.text) as path:
            yield dataclasses.replace(request, model=path)

    def seen(self, wanted: SideRequest, request: Request, notes: Notes) -> SideAnswer:
        """As in the base."""
        debug = wanted.debug
        recorder = None if debug is None else Recorder(debug.history, debug.step)
        with contextlib.ExitStack() as stack:
            if wanted.backend is not None:
                stack.enter_context(choice.use_backend(wanted.backend))
            request = stack.enter_context(self.open_request(request))
            request = wanted.asked.adapt(request)
            if recorder is None:
                left = stack.enter_context(loader.run_model(request, notes))
            else:
                left = stack.enter_context(recording.record_model(recorder, request, notes))
            # The backward part of a program is made anew for each of these, as each takes the one before out.
            outline = view = run = None
            others: Sequence[Other] = ()
            if wanted.outline and not wanted.as_run:
                model = opening.model_in(left, request)
                outline, others = model.outline(wanted.asked, SILENT), [*model.left_out, *model.together]
            if wanted.picture:
                assert outline is not None
                params, no_grad = (tuple(outline.settings.get(name, ())) for name in ("params", "no_grad"))
                cuts = dataclasses.replace(wanted.asked, params=params, no_grad=no_grad)
                view = opening.model_in(left, request).draw(cuts, SILENT).view
                view = dataclasses.replace(view, title=self.title)
            if recorder is not None:
                assert debug is not None
                run = recording.timeline(left, request, recorder, debug, SILENT)[0]
                if wanted.outline and wanted.as_run:
                    outline = of_timeline.outline(run, plain)
            if outline is not None:
                outline = dataclasses.replace(outline, title=self.title)
            return SideAnswer(outline, view, run, 1 if recorder is None else recorder.passes, others)
