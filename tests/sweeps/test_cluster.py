"""A cluster of processes: scheduler and workers are killed and come again, sides differ, nobody answers."""

from __future__ import annotations

import os
import random
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from distributed.client import ClosedClientError, FutureCancelledError

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.sweeps.axes import Axes
from gradtool.engine.sweeps.places import cluster as places
from gradtool.engine.sweeps.places.cluster import Cluster
from gradtool.engine.sweeps.spec import Spec
from tests.sweeps.conftest import Asked, lines
from tests.sweeps.servers import Servers


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """A scheduler with two workers."""
    told = Servers(str(tmp_path_factory.mktemp("workers")))
    told.begin(2)
    yield told
    told.kill()


def test_sides_that_differ_are_an_error(asked: Asked, servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    more = {"data": "data.npz", "batches": (48,), "scheduler": servers.address}
    with monkeypatch.context() as patch:
        there = np.__version__
        patch.setattr(np, "__version__", "1.0")
        with pytest.raises(CommandError, match=rf"numpy: 1\.0 here, and {there} at tcp://"):
            asked(**more)
    with monkeypatch.context() as patch:
        patch.setattr(Axes, "contents", lambda axes: {"eager.py": "another"})
        with pytest.raises(CommandError, match=r"eager\.py: another here, and \w{16} at "):
            asked(**more)


def test_scheduler_and_workers_are_killed_and_rows_are_the_same_bytes(
    asked: Asked, servers: Servers, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers end at random, then the scheduler; begun again, it is gone on with, and another worker ends."""
    more: dict[str, Any] = {"models": ("static.py",), "data": "data.npz", "batches": (3,)}
    sequential = asked(**more)
    came, chance = Cluster._came, random.Random(17)
    killed: list[int] = []
    ends: dict[int, bool] = {}

    def killing(self: Cluster, future: Any, group: Any) -> Any:
        """Before rows are taken: a worker ends where ends says so, and the scheduler if it says True."""
        groups.append(len(group))
        everything = ends.pop(len(groups), None)
        if everything:
            servers.kill()
        elif everything is not None:
            killed.append(servers.replace(chance.randrange(2)))
        return came(self, future, group)

    monkeypatch.setattr(Cluster, "_came", killing)
    monkeypatch.setattr(places, "SECONDS", 0.02)
    monkeypatch.setattr(places, "WAIT", "1s")
    more |= {"results": "r.jsonl", "scheduler": servers.address}
    groups: list[int] = []
    ends[chance.randint(1, 3)], ends[chance.randint(4, 6)] = False, True
    with pytest.raises(CommandError, match="the scheduler was lost"):
        asked(**more)
    before = (folder / "r.jsonl").read_bytes()
    monkeypatch.setattr(places, "WAIT", "60s")
    servers.begin(2)
    groups, ends = [], {chance.randint(1, 3): False}
    swept = asked(**more, resume=True)
    assert not ends
    assert len(set(killed)) == 2
    after = (folder / "r.jsonl").read_bytes()
    assert after.startswith(before)
    assert 0 < swept.known == before.count(b"\n") < 32
    assert sorted(after.decode().splitlines(keepends=True)) == lines(swept) == lines(sequential)
    assert swept.subset == sequential.subset


def test_rows_that_a_worker_took_along_are_computed_again(
    asked: Asked, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group is carried out, and its worker ends before anybody has taken the rows."""
    more: dict[str, Any] = {"models": ("static.py",), "data": "data.npz", "batches": (48,)}
    sequential = asked(**more)
    came = Cluster._came
    states: list[str] = []

    def taking(self: Cluster, future: Any, group: Any) -> Any:
        if not states:
            (holder,) = self._client.who_has([future])[future.key]
            (process,) = self._client.run(os.getpid, workers=[holder]).values()
            servers.replace([worker.pid for worker in servers.workers].index(process))
            while future.status == "finished":
                time.sleep(0.001)
            states.append(future.status)
        return came(self, future, group)

    monkeypatch.setattr(Cluster, "_came", taking)
    assert lines(asked(**more, scheduler=servers.address)) == lines(sequential)
    assert states == ["lost"]


@pytest.mark.parametrize(
    "error",
    [OSError("closed"), FutureCancelledError("group", None), ClosedClientError()],
    ids=lambda e: type(e).__name__,
)
def test_a_lost_scheduler_is_one_error(error: Exception) -> None:
    """In whichever state it is noticed: before the rows are fetched, meanwhile, after Dask gave up."""
    future = mock.Mock(status="finished", **{"result.side_effect": error})
    with pytest.raises(CommandError, match="the scheduler was lost"):
        list(Cluster(None, {}, Spec(question="nan"))._came(future, []))


def test_nobody_answers(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "WAIT", "0.1s")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(CommandError, match=f"--scheduler tcp://127.0.0.1:{port}: no scheduler answers there"):
        asked(seeds=(0, 1), scheduler=f"tcp://127.0.0.1:{port}")
