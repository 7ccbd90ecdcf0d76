"""``python -m tests.parity.check [PREFIX]``: replay the recorded cases and print what differs, one line per case."""

from __future__ import annotations

import sys

from . import replay


def main() -> None:
    prefix = sys.argv[1] if len(sys.argv) > 1 else "s"
    passed = 0
    cases = replay.names(prefix)
    for name in cases:
        try:
            case = replay.Replay(name)
            found = case.differences() + case.wrong_slopes()
        except Exception as error:
            found = [f"{type(error).__name__}: {error}".replace("\n", " | ")]
        if found:
            print(f"{name}: {'; '.join(found)[:700]}")
        else:
            passed += 1
    print(f"{passed} of {len(cases)} pass")


if __name__ == "__main__":
    import gradtool

    gradtool.as_paddle()
    main()
