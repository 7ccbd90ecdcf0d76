"""Record the scripts anew where Paddle is installed: ``python -m tests.real_paddle``."""

from __future__ import annotations

from .answers import NETWORKS, RUNS, SCRIPTS


def main() -> int:
    """Record each script."""
    from gradtool.models.loader import Request
    from gradtool.models.real_paddle.process import record

    for script in [*SCRIPTS, *NETWORKS]:
        request = Request(str(script), journal=True, unfinished=True, engine="paddle")
        record(request, str(RUNS / f"{script.stem}.paddlerun"), str(script.parent))
        print(script.stem)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
