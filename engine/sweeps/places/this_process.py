"""Points in this process: nothing to begin, and nothing that holds a point that ends its process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...kernels import threads
from ..point_rows import compute_row
from ..spec import Spec
from . import Keyed, Row


class LocalRunner:
    """Carries out points in this process."""

    def rows(self, spec: Spec, points: Sequence[Keyed]) -> Iterator[Row]:
        """As the protocol's."""
        # On as many threads as processes of its own have: a row is the same wherever it comes from.
        with threads.limit_threads(threads.environment_count() or 1):
            for key, point in points:
                yield compute_row(spec, point, key)
