"""A scheduler and workers of Dask as threads of this process, which talk in memory: no port is opened, also for HTTP.

What the workers start for their points are processes (:mod:`.processes`), so that a thread each is enough for them.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import dask
import distributed
from distributed.deploy.spec import SpecCluster

_PROTOCOL: Final = "inproc://"


class _WithoutPages:
    """A server that has no pages to show."""

    def start_http_server(self, *routes: Any, **options: Any) -> None:
        """Listen to nobody."""


class _Scheduler(_WithoutPages, distributed.Scheduler):  # type: ignore[misc]
    pass


class _Worker(_WithoutPages, distributed.Worker):  # type: ignore[misc]
    pass


@contextmanager
def client(jobs: int) -> Iterator[Any]:
    """A client of so many workers; they are ended afterwards."""
    worker = {"nthreads": 1, "protocol": _PROTOCOL, "dashboard": False, "memory_limit": 0}
    scheduler = {"protocol": _PROTOCOL, "dashboard": False}
    with (
        dask.config.set({"distributed.scheduler.idle-timeout": None}),
        _remove_folders() as folders,
        SpecCluster(
            scheduler={"cls": _Scheduler, "options": scheduler},
            workers={number: {"cls": _Worker, "options": worker} for number in range(jobs)},
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as told,
    ):
        folders += [server.local_directory for server in (cluster.scheduler, *cluster.workers.values())]
        yield told


@contextmanager
def _remove_folders() -> Iterator[list[str]]:
    """Take the folders that are listed inside from ``sys.path``: Dask removes its own only where it stands first."""
    folders: list[str] = []
    try:
        yield folders
    finally:
        sys.path[:] = [folder for folder in sys.path if folder not in folders]
