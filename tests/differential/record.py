"""Record Paddle's answers to the small slice that the tests replay, and to the programs of the decided differences.

::

    python -m tests.differential.record EAGER_PEER STATIC_PEER

The peers are Pythons with Paddle 3.3.1 and 3.1.1. Kept are short programs in which both agree or the difference is
decided.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .comparing import difference
from .decided import DECISIONS, reason_of
from .found import FOUND
from .peers import OURS, Peer
from .programs import drawn

HERE = Path(__file__).parent
SLICE = HERE / "slice.json"
DECIDED = HERE / "decided.json"
SEEDS = 1_000_000
"""The slice begins at a seed of its own."""
WANTED = {("eager", "single"): 170, ("eager", "chain"): 80, ("static", "single"): 130, ("static", "chain"): 60}
LONGEST = {"program": 600, "answer": 2500}


def written(records: list[list[Any]]) -> str:
    """A record per line."""
    lines = ",\n".join(json.dumps(r, separators=(",", ":")) for r in records)
    return f"[\n{lines}\n]\n"


def slice_of(mode: str, form: str, ours: Peer, theirs: Peer) -> list[list[Any]]:
    records: list[list[Any]] = []
    seed = SEEDS
    while len(records) < WANTED[mode, form]:
        text = drawn(seed, mode, form)
        seed += 1
        if len(text) > LONGEST["program"]:
            continue
        answer = theirs.ask(text)
        gap = difference(text, ours.ask(text), answer)
        short = len(json.dumps(answer)) < LONGEST["answer"]
        if short and (gap is None or reason_of(text, gap)):
            records.append([text, answer])
    return records


def answered_by(peers: dict[str, Peer], text: str) -> list[Any]:
    """A program with the answer of the peer of its mode."""
    return [text, peers[text[2:].split()[0]].ask(text)]


def main() -> None:
    peers = {"eager": Peer(sys.argv[1], "paddle"), "static": Peer(sys.argv[2], "paddle")}
    ours = Peer(sys.executable, OURS)
    records = [r for mode, form in WANTED for r in slice_of(mode, form, ours, peers[mode])]
    SLICE.write_text(written(records + [answered_by(peers, text) for text in FOUND]), encoding="utf-8")
    examples = [answered_by(peers, d.example) for d in DECISIONS]
    DECIDED.write_text(written(examples), encoding="utf-8")
    for peer in (*peers.values(), ours):
        peer.stop()


if __name__ == "__main__":
    main()
