"""One hook hears Python's audit events for all who want some."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """\
import os
import sys
from gradtool.engine.core import audit

added = []
sys.addaudithook(lambda event, arguments: added.append(event) if event == "sys.addaudithook" else None)
first, second, asked = [], [], []
audit.listen(lambda event, arguments: first.append((event, arguments[0])), lambda event: event == "os.rename")
os.mkdir("a")
audit.listen(lambda event, arguments: second.append(event), lambda event: asked.append(event) or event == "os.mkdir")
for name in ("b", "c"):
    os.mkdir(name)
    id(name)
os.rename("a", "d")
print(first, second, asked.count("builtins.id"), asked.count("os.mkdir"), added.count("sys.addaudithook"))
"""


def test_each_listener_is_called_for_the_events_that_it_wants(tmp_path: Path) -> None:
    """A hook stays until its process ends: hence another process. A name is asked about once, whenever one comes."""
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert told.stdout == "[('os.rename', 'a')] ['os.mkdir', 'os.mkdir'] 1 1 1\n"
