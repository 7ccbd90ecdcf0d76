"""Golden files: graphs that were reviewed and kept as text, and how models differ from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ..answers.diff import golden
from ..answers.diff.structure import Change, GraphDifference, difference
from ..core.command_errors import CommandError
from ..core.notes import Notes
from ..core.source import NOWHERE, Place
from ..files import confined_paths
from ..files.writing import write_files
from ..questions.backward import Backward
from ..questions.sides import outline_of
from ..request.request import Request
from .rule import Hit, Options

if TYPE_CHECKING:
    from .evidence import Evidence

_UNNAMED: Final = str.maketrans(dict.fromkeys('/\\:<>"|?*', "_"))


def file_of(model: str, kept: str, models: Sequence[str]) -> str:
    """The golden file of one of the models that are checked.

    Args:
        kept: a file whose name ends in ``.gt.txt``, for one model; else a folder, in which each model has a file that
            is called after it.

    Raises:
        CommandError: there is one file for several models.
    """
    if not kept.endswith(golden.ENDING):
        name = os.path.relpath(model) if os.path.isabs(model) else os.path.normpath(model)
        return os.path.join(kept, name.removesuffix(".py").translate(_UNNAMED) + golden.ENDING)
    if len(models) > 1:
        raise CommandError(
            f"{kept} keeps one graph, and there are {len(models)} models", "--golden FOLDER keeps several"
        )
    return kept


def must_be_there(file: str) -> None:
    """Raise :class:`CommandError` where a golden file is not there."""
    _must_stay(file)
    if not os.path.exists(file):
        raise CommandError(f"there is no golden file {file}", "--update writes it")


def _must_stay(file: str) -> None:
    """Raise :class:`CommandError` for a golden file that a configuration file names and that is a link to elsewhere."""
    try:
        confined_paths.must_stay(file)
    except OSError as error:
        raise CommandError(f"golden file {file}: {error.strerror}") from None


def drift(request: Request, file: str, notes: Notes) -> GraphDifference:
    """Return the differences between the graph that *file* keeps and that of a model.

    Raises:
        CommandError: there is no such file.
        GoldenError: it holds no graph.
        ModelError: the user's code raised.
        GradtoolError: the engine refused.
    """
    must_be_there(file)
    before = outline_of(file, request, Backward(), notes)
    return difference(before, outline_of(request.model, request, Backward(), notes))


def update(request: Request, file: str, notes: Notes) -> None:
    """Write the graph of a model to *file*, unless the one that it keeps is the same.

    Raises:
        ModelError: the user's code raised.
        GradtoolError: the engine refused.
        CommandError: the file cannot be written.
    """
    _must_stay(file)
    after = outline_of(request.model, request, Backward(), notes)
    if os.path.exists(file):
        try:
            if difference(outline_of(file, request, Backward(), notes), after).empty:
                return
        except golden.GoldenError:
            pass  # what cannot be read is written anew
    try:
        if os.path.dirname(file):
            confined_paths.make_folder(os.path.dirname(file))
        write_files({file: golden.write(after).encode()})
    except OSError as error:
        raise CommandError(f"cannot write {file}: {error.strerror or error}") from None
    notes.note(f"wrote {file}")


def look_for_changes(*kinds: str, effects: bool = False) -> Callable[[Evidence, Options], Iterator[Hit]]:
    """A look at how a model differs from its golden file: changes of these kinds; those alike are one finding.

    Args:
        effects: what follows from other changes counts, too.
    """

    def look(evidence: Evidence, options: Options) -> Iterator[Hit]:
        found = evidence.drift
        if found is None:
            return
        changes = [*found.changes, *(found.effects if effects else ())]
        for change, others in _alike(c for c in changes if c.kind in kinds):
            place = change.source_after or change.source
            at = place if isinstance(place, Place) else NOWHERE  # a golden file knows no lines
            yield Hit(_subject(change), change.text, at, tuple(map(_subject, others)))

    return look


def _alike(changes: Iterable[Change]) -> Iterator[tuple[Change, list[Change]]]:
    """Changes with the others of which the same is said, but for the name."""
    groups: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        said = change.text.replace(_subject(change), "", 1) if change.kind in ("gradient", "frozen") else change.text
        groups.setdefault((change.kind, said), []).append(change)
    for first, *others in groups.values():
        yield first, others


def _subject(change: Change) -> str:
    return next(iter((*change.after, *change.before)), "")
