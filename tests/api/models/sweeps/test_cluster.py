"""A cluster with processes of its own: workers are killed, sides differ, the scheduler goes away and comes again."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import distributed
import pytest

from gradtool.models.errors import CommandError
from gradtool.models.sweeps import content
from gradtool.models.sweeps.axes import Axes
from gradtool.models.sweeps.places import cluster as places
from gradtool.models.sweeps.places.cluster import Cluster
from tests.api.models.sweeps.conftest import Asked, lines, statuses


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers, each a process, that are begun again when they end."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as told:
        yield told


def test_a_killed_worker_changes_nothing(asked: Asked, cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sequential = asked(models=("static.py",), data="data.npz", batches=(3,))
    came = Cluster._came
    killed: list[int] = []

    def killing(self: Cluster, *future: Any) -> Any:
        if not killed:
            killed.append(next(iter(cluster.workers.values())).process.process.pid)
            os.kill(killed[0], signal.SIGKILL)
        return came(self, *future)

    monkeypatch.setattr(Cluster, "_came", killing)
    swept = asked(models=("static.py",), data="data.npz", batches=(3,), scheduler=cluster.scheduler_address)
    assert killed
    assert lines(swept) == lines(sequential)
    assert swept.subset == sequential.subset


def test_sides_that_differ_are_an_error(asked: Asked, cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    more = {"data": "data.npz", "batches": (48,), "scheduler": cluster.scheduler_address}
    with monkeypatch.context() as patch:
        own = content.versions()
        patch.setattr(content, "versions", lambda: {**own, "numpy": "1.0"})
        with pytest.raises(CommandError, match=rf"numpy: 1\.0 here, and {own['numpy']} at "):
            asked(**more)
    with monkeypatch.context() as patch:
        patch.setattr(Axes, "contents", lambda axes: {"eager.py": "another"})
        with pytest.raises(CommandError, match=r"eager\.py: another here, and \w{16} at "):
            asked(**more)
    assert statuses(asked(**more)) == ["ok", "finding"]


def test_a_sweep_goes_on_after_its_scheduler_was_lost(
    asked: Asked, cluster: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = asked(data="data.npz", batches=(8,))
    came = Cluster._came

    def lost(self: Cluster, future: Any, group: Any) -> Any:
        if self._carried > 1:
            self._client.cancel([future], force=True)
        return came(self, future, group)

    more = {"data": "data.npz", "batches": (8,), "results": "r.jsonl", "scheduler": cluster.scheduler_address}
    with monkeypatch.context() as patch:
        patch.setattr(Cluster, "_came", lost)
        with pytest.raises(CommandError, match="the scheduler was lost"):
            asked(**more)
    swept = asked(**more, resume=True)
    assert 0 < swept.known < 12
    assert sorted((folder / "r.jsonl").read_text().splitlines(keepends=True)) == lines(swept) == lines(whole)


def test_nobody_answers(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "WAIT", "0.1s")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(CommandError, match=f"--scheduler tcp://127.0.0.1:{port}: no scheduler answers there"):
        asked(seeds=(0, 1), scheduler=f"tcp://127.0.0.1:{port}")
