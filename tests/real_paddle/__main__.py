"""Record the scripts anew where Paddle is installed: ``python -m tests.real_paddle``.

The static program is recorded in the form that Paddle has it in: with ``FLAGS_enable_pir_api=0`` as a description.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from .answers import NETWORKS, PARALLEL, PROGRAMS, RUNS, SCRIPTS, STATIC, TRACED


def main() -> int:
    """Record what is named, or each script."""
    from gradtool.engine.loading.paddle_process import record
    from gradtool.engine.request.request import Request

    asked = sys.argv[1:]
    for script in [*SCRIPTS, *NETWORKS, TRACED, PARALLEL, STATIC]:
        if asked and script.stem not in asked:
            continue
        request = Request.create(str(script), journal=True, unfinished=True, engine="paddle")
        if script == STATIC:
            with tempfile.TemporaryDirectory() as folder:
                record(request, str(Path(folder) / "run.paddlerun"), str(script.parent))
                _keep(Path(folder))
        else:
            record(request, str(RUNS / f"{script.stem}.paddlerun"), str(script.parent))
        print(script.stem)
    return 0


def _keep(folder: Path) -> None:
    """Keep the files of a static program; its callstacks do not say where on this machine anything lies."""
    from tests.paddle_files.recording import elsewhere

    kept = PROGRAMS / ("description" if (folder / "program.pdmodel").exists() else "new_ir")
    kept.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        if file.suffix != ".paddlerun":
            data = file.read_bytes()
            (kept / file.name).write_bytes(elsewhere(data) if file.suffix == ".pdmodel" else data)


if __name__ == "__main__":
    raise SystemExit(main())
