"""``python -m tests.parity.check [PREFIX]``: replay the recorded cases and print what differs, one line per case."""

from __future__ import annotations

import sys

import gradtool
from gradtool.engine.executor.scope import Scope, scope_guard
from gradtool.engine.ir import default

from . import replay
from .returned import differences


def differences_of(name: str) -> list[str]:
    """Where a case differs from its record: a program of static mode, or a script of either."""
    namespace, record = replay.load(name)
    if "returns" not in record:
        case = replay.Replay(name)
        return case.differences() + case.wrong_slopes()
    mode = gradtool.paddle.disable_static if name.startswith("e") else gradtool.paddle.enable_static
    with gradtool.paddle.utils.unique_name.guard(), default.fresh_programs(), scope_guard(Scope()):
        mode()
        try:
            return differences(namespace["run"](), record["returns"])
        finally:
            gradtool.paddle.enable_static()


def main() -> None:
    prefix = sys.argv[1] if len(sys.argv) > 1 else "s"
    passed = 0
    cases = replay.names(prefix)
    for name in cases:
        try:
            faults = differences_of(name)
        except Exception as error:
            faults = [f"{type(error).__name__}: {error}".replace("\n", " | ")]
        if faults:
            print(f"{name}: {'; '.join(faults)[:700]}")
        else:
            passed += 1
    print(f"{passed} of {len(cases)} pass")


if __name__ == "__main__":
    gradtool.as_paddle()
    main()
