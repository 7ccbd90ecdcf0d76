"""Child processes that run programs: batches of them, over crashes and hangs."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from pathlib import Path
from typing import Any

OURS = "gradtool.paddle"
"""The module that stands for ``paddle`` on gradtool's side."""
DRIVER = Path(__file__).with_name("driver.py")
CLASSIC = {"FLAGS_enable_pir_api": "0", "OMP_NUM_THREADS": "1", "GLOG_minloglevel": "3", "PYTHONWARNINGS": "ignore"}
"""Static mode is that of the classic programs; one thread, so that a peer leaves the machine to others."""


class Peer:
    """One Python with one module, which answers programs; started anew where it dies or is silent for too long."""

    def __init__(self, python: str, module: str, patience: float = 30.0) -> None:
        self.command = [python, str(DRIVER), module]
        self.patience = patience
        self.process: subprocess.Popen[str] | None = None
        self.answers: queue.Queue[str] = queue.Queue()

    def ask(self, text: str) -> dict[str, Any]:
        """The answer to a program; a refusal at ``process`` where the child crashed or hung."""
        if self.process is None:
            self.start()
        assert self.process is not None
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(text) + "\n")
            self.process.stdin.flush()
            line = self.answers.get(timeout=self.patience)
        except queue.Empty:
            return self.lost("hang")
        except BrokenPipeError:
            return self.lost("crash")
        return json.loads(line) if line else self.lost("crash")

    def lost(self, how: str) -> dict[str, Any]:
        self.stop()
        return {"refused": {"at": "process", "class": how, "message": ""}, "values": {}, "grads": {}}

    def start(self) -> None:
        self.answers = queue.Queue()
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | CLASSIC,
        )
        threading.Thread(target=listen, args=(self.process.stdout, self.answers), daemon=True).start()

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def listen(stream: Any, answers: queue.Queue[str]) -> None:
    """Put the lines of a child into a queue; an empty one when it ends."""
    try:
        for line in stream:
            answers.put(line)
    except ValueError:
        pass
    answers.put("")
