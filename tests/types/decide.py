"""Note what gradtool gives where its difference from Paddle is decided: ``python -m tests.types.decide``."""

from __future__ import annotations

import json

from .calls import CALLS
from .decided import decision_of
from .table import DECIDED, cells


def main() -> None:
    """Write the file, and say which differences nobody has decided."""
    table: dict[str, dict[str, list[str]]] = {}
    for cell in (c for call in CALLS for c in cells(call) if c.ours != c.theirs):
        if decision_of(cell) is None:
            print(f"not decided: {cell.call} of {', '.join(cell.types)}: {cell.ours} instead of {cell.theirs}")
            continue
        table.setdefault(cell.call, {}).setdefault(cell.ours, []).append(",".join(cell.types))
    rows = {call: {ours: " ".join(types) for ours, types in row.items()} for call, row in table.items()}
    DECIDED.write_text(json.dumps(rows, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
