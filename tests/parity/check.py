"""``python -m tests.parity.check [PREFIX]``: replay the recorded cases and print what differs, one line per case."""

from __future__ import annotations

import sys

from . import replay


def differences(name: str) -> list[str]:
    """What differs between a static case on gradtool and its record; empty when it passes whole."""
    case = replay.Replay(name)
    record = case.record
    found = []
    if (got := replay.result_names(case.result)) != record["result"]:
        found.append(f"result {got} instead of {record['result']}")
    for part, ours in (("forward", case.forward_ops), ("backward", case.backward_ops)):
        theirs = replay.recorded_ops(record, part)
        if [o["type"] for o in ours] != [o["type"] for o in theirs]:
            found.append(f"{part}: types {[o['type'] for o in ours]} instead of {[o['type'] for o in theirs]}")
            continue
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            if a != b:
                found.append(f"{part}: op {i} is {a} instead of {b}")
    uncounted = {
        v for o in case.backward_ops for slot, vs in o["outputs"].items() if slot in replay.UNCOUNTED_SLOTS for v in vs
    }
    wanted = [n for n in record["values"] if n not in uncounted and n in case.main.global_block().vars]
    if len(missing := [n for n in record["values"] if n not in uncounted and n not in wanted]):
        found.append(f"no variables {missing}")
    case.reset()
    for name_, value in zip(wanted, case.run(wanted), strict=True):
        if why := replay.close(value, replay.array(record["values"][name_])):
            found.append(f"value of {name_}: {why}")
    return found


def main() -> None:
    prefix = sys.argv[1] if len(sys.argv) > 1 else "s"
    passed = 0
    for name in replay.names(prefix):
        try:
            found = differences(name)
        except Exception as error:
            found = [f"{type(error).__name__}: {error}".replace("\n", " | ")]
        if found:
            print(f"{name}: {'; '.join(found)[:700]}")
        else:
            passed += 1
    print(f"{passed} of {len(replay.names(prefix))} pass")


if __name__ == "__main__":
    main()
