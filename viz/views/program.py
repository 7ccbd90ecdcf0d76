"""View of a model's operators: each on a line, or forward next to backward."""

from __future__ import annotations

from gradtool.engine.core.wording import NOTHING, command_line, count
from gradtool.engine.kinds.listing import ListedBlock, ListedOperator, Listing, Pair

from .view import Table, View


def view(answer: Listing, sources: bool = False, as_table: bool = False) -> View:
    """The operators one by one.

    Args:
        sources: say which line made each of them.
        as_table: a row for each, where text is no use.
    """
    table = Table(["id", "op", "inputs", "outputs", "role", "source"], order=("role", "source"))
    for block in answer.blocks:
        table.rows += [_row(op) for op in block.operators]
    entries = [
        {
            "index": b.index,
            "parent": b.parent,
            "variables": list(b.variables),
            "operators": [op.data() for op in b.operators],
        }
        for b in answer.blocks
    ]
    texts: list[str | Table] = [_text(block, sources) for block in answer.blocks]
    data = {"model": answer.about.file, "part": answer.part, "blocks": entries}
    next_ = [command_line("gradtool", "graph", *answer.words, "--pairs")]
    return View("program", data, [table] if as_table else texts, next_, table)


def _text(block: ListedBlock, sources: bool) -> str:
    lines = [f"    {op.line}" + (f"  // {op.source}" if sources and op.source else "") for op in block.operators]
    return "\n".join([*block.above, *lines, *block.below])


def _row(op: ListedOperator) -> list[str]:
    reads, writes = ", ".join(op.reads) or NOTHING, ", ".join(op.writes) or NOTHING
    return [op.id, op.name, reads, writes, op.role_name, op.source or NOTHING]


def pairs(answer: Listing) -> View:
    """A forward operator and its gradient operator on one row, with what is kept for it."""
    table = Table(["forward", "saved", "", "backward", "source"], order=("source", "saved…"))
    listed = answer.pairs()
    for pair in listed:
        table.rows += _pair_rows(pair)
    paired = sum(1 for p in listed if p.forward and p.backward)
    total = sum(1 for p in listed if p.forward)
    last = f"{paired} of {count(total, 'forward op')} {'has' if paired == 1 else 'have'} a gradient op"
    data = {"model": answer.about.file, "pairs": [_pair_data(p) for p in listed]}
    next_ = [command_line("gradtool", "graph", "--text", *answer.words, "--source")]
    return View("pairs", data, [table, last], next_, records="pairs")


def _pair_rows(pair: Pair) -> list[list[str]]:
    where = pair.source or NOTHING
    forward = "" if pair.forward is None else pair.forward.call
    if not pair.backward:
        return [[forward, NOTHING, "", NOTHING, where]]
    arrow = "" if pair.forward is None else "↔"
    return [
        ["" if i else forward, ", ".join(b.saved) or NOTHING, arrow, b.call, where] for i, b in enumerate(pair.backward)
    ]


def _pair_data(pair: Pair) -> dict[str, object]:
    return {
        "forward": None if pair.forward is None else pair.forward.name,
        "backward": [{"name": b.name, "saved": list(b.saved)} for b in pair.backward],
        "source": pair.source.whole or None,
    }
