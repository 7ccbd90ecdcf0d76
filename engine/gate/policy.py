"""Policy for models, files and parameters: which rules are applied, and whose findings are left out."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from ..core.records import dataclass
from .finding import Finding, Severity
from .rule import Options
from .selection import Selection, select_rules
from .subject import Subject


@dataclass(frozen=True)
class Paths:
    """Paths and globs below a folder.

    A pattern without ``/`` is that of a file's name anywhere; a folder stands for all that is in it.
    """

    folder: str
    patterns: tuple[str, ...]

    def match(self, file: str) -> bool:
        """Return whether a file is meant."""
        whole = os.path.abspath(file).replace(os.sep, "/")
        return any(self._matches(whole, pattern.rstrip("/")) for pattern in self.patterns)

    def _matches(self, whole: str, pattern: str) -> bool:
        if "/" not in pattern and fnmatch.fnmatchcase(whole.rpartition("/")[2], pattern):
            return True
        below = os.path.normpath(os.path.join(self.folder, pattern)).replace(os.sep, "/")
        return fnmatch.fnmatchcase(whole, below) or fnmatch.fnmatchcase(whole, f"{below}/*")


@dataclass(frozen=True, kw_only=True)
class Override:
    """Settings for models in some files, or for some of their parameters.

    Attributes:
        files: which; None for all.
        parameters: names or globs, of what alone *ignore*, *severities* and *options* hold for; empty for all that is
            found in the models.
        select: in place of what is selected elsewhere, if it is not empty.
        ignore, extend: beside what is said elsewhere.
        severities, options: as in :class:`Selection`, stronger than what is said elsewhere.
    """

    files: Paths | None = None
    parameters: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend: tuple[str, ...] = ()
    severities: Mapping[str, Severity] = field(default_factory=dict)
    options: Mapping[str, Options] = field(default_factory=dict)

    def speaks_of(self, subject: Subject) -> bool:
        """Return whether it applies to a model."""
        return self.files is None or self.files.match(subject.file)

    def means(self, parameter: str) -> bool:
        """Return whether it applies to a parameter and not to others."""
        return any(fnmatch.fnmatchcase(parameter, pattern) for pattern in self.parameters)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Policy for models, files and parameters.

    Attributes:
        selection: what holds for all models.
        said: which of its selectors the command line says, which is stronger than any override.
        overrides: the later ones are stronger.
        per_file: files, and the rules whose findings there are skipped.
        per_parameter: globs of parameters, and the rules whose findings about them are left out.
    """

    selection: Selection = field(default_factory=Selection)
    said: frozenset[str] = frozenset()
    overrides: Sequence[Override] = ()
    per_file: Sequence[tuple[Paths, tuple[str, ...]]] = ()
    per_parameter: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def selection_for(self, subject: Subject) -> Selection:
        """Return the selection of rules for a model."""
        chosen = self.selection
        for override in self.overrides:
            if not override.speaks_of(subject):
                continue
            if override.parameters:
                chosen = replace(chosen, parameters=[*chosen.parameters, (override.parameters, override.options)])
                continue
            options = {code: {**chosen.options.get(code, {}), **o} for code, o in override.options.items()}
            chosen = replace(
                chosen,
                select=chosen.select if "select" in self.said else override.select or chosen.select,
                ignore=(*chosen.ignore, *override.ignore),
                extend=(*chosen.extend, *override.extend),
                severities={**chosen.severities, **override.severities},
                options={**chosen.options, **options},
            )
        return chosen

    def filter_finding(self, finding: Finding, subject: Subject) -> Finding | None:
        """A finding without the parameters that are left out; None if nothing is left of it.

        It stays as long as it is about one parameter that is not left out: its message may speak of another one then.
        """
        where = finding.spot.file if finding.spot is not None else subject.file
        if any(finding.code in select_rules(codes) for paths, codes in self.per_file if paths.match(where)):
            return None
        special = [o for o in self.overrides if o.parameters and o.speaks_of(subject)]
        if not finding.subject or not (self.per_parameter or special):
            return finding
        others = tuple(name for name in finding.also if not self._is_left_out(name, finding.code, special))
        if self._is_left_out(finding.subject, finding.code, special) and not others:
            return None
        return replace(finding, also=others)

    def _is_left_out(self, parameter: str, code: str, special: Sequence[Override]) -> bool:
        codes = [c for pattern, c in self.per_parameter.items() if fnmatch.fnmatchcase(parameter, pattern)]
        codes += [override.ignore for override in special if override.means(parameter)]
        return any(code in select_rules(selectors) for selectors in codes)

    def severity(self, finding: Finding, subject: Subject, severities: Mapping[str, Severity]) -> Severity:
        """Return the severity of a finding: of several parameters, the highest that applies to one of them.

        Args:
            severities: by code, those that hold for the model.
        """
        usual = severities.get(finding.code, finding.severity)
        special = [o for o in self.overrides if finding.code in o.severities and o.parameters and o.speaks_of(subject)]
        if not finding.subject or not special:
            return usual
        told = [
            next((o.severities[finding.code] for o in reversed(special) if o.means(name)), usual)
            for name in (finding.subject, *finding.also)
        ]
        return min(told, key=list(Severity).index)
