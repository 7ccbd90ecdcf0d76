"""Names for parameters that nobody holds any more, or that only a closure holds: from the line that made them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from gradtool.engine.core import assigned, source
from gradtool.engine.eager.parameter import TensorParameter


def born(parameters: Iterable[TensorParameter], taken: Collection[int]) -> Iterator[tuple[str, TensorParameter]]:
    """Path and parameter of those that are not among the *taken* identities.

    ``scorer = nn.Linear(5, 4)`` in a function ``build`` makes ``build.scorer.weight``.
    """
    for parameter in parameters:
        if id(parameter) not in taken:
            yield _path(parameter), parameter


def _path(parameter: TensorParameter) -> str:
    place = source.file_and_line(parameter.loc)
    inside = parameter.layer_path
    if place is None:
        return inside or parameter.name
    function = parameter.loc[0][0].co_name
    target = assigned.target(parameter.loc)
    steps = ["" if function.startswith("<") else function, target, inside if inside else ""]
    steps = [step for step in steps if step]
    return ".".join(steps) if target or inside else parameter.name
