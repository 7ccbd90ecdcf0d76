"""Points in this process: nothing to begin, and nothing that holds a point that ends its process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..carrying import carried
from ..spec import Spec
from . import Keyed, Row


class Here:
    """Carries out points in this process."""

    def rows(self, spec: Spec, points: Sequence[Keyed]) -> Iterator[Row]:
        """As the protocol's."""
        for key, point in points:
            yield carried(spec, point, key)
