"""A scheduler of Dask and its workers as processes of their own, forked from one that has imported them once."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import socket
from multiprocessing.process import BaseProcess

_servers = multiprocessing.get_context("forkserver")
_servers.set_forkserver_preload([__name__, "distributed", "gradtool.engine.sweeps.places.cluster"])

_QUIET = {"dashboard": False}


def _schedule(port: int) -> None:
    import distributed

    async def serve() -> None:
        async with distributed.Scheduler(host="127.0.0.1", port=port, **_QUIET) as scheduler:
            await scheduler.finished()

    _silent()
    asyncio.run(serve())


def _work(address: str, folder: str) -> None:
    import distributed

    async def serve() -> None:
        worker = distributed.Worker(address, nthreads=1, local_directory=folder, memory_limit=0, **_QUIET)
        async with worker:
            await worker.finished()

    _silent()
    asyncio.run(serve())


def _silent() -> None:
    """What servers say when others of them are killed is nobody's."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


class Servers:
    """A scheduler and its workers, to be killed and begun again.

    Args:
        folder: where workers put their files.
    """

    def __init__(self, folder: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._folder = folder
        self.address = f"tcp://127.0.0.1:{self._port}"
        self.workers: list[BaseProcess] = []

    def begin(self, workers: int) -> None:
        """Begin a scheduler at the same address as before, and so many workers; they are there when this is over."""
        import distributed

        self.scheduler: BaseProcess = self._begun(_schedule, self._port)
        self.workers = [self._begun(_work, self.address, self._folder) for _ in range(workers)]
        with distributed.Client(self.address, timeout="60s", set_as_default=False) as client:
            client.wait_for_workers(workers)

    def replace(self, number: int) -> int:
        """Kill a worker and begin another one in its place; the number of the killed process."""
        killed = _killed(self.workers[number])
        self.workers[number] = self._begun(_work, self.address, self._folder)
        return killed

    def kill(self) -> None:
        """Kill the scheduler; its workers are killed, too, where they do not end for that."""
        _killed(self.scheduler)
        for worker in self.workers:
            _killed(worker)

    @staticmethod
    def _begun(function: object, *arguments: object) -> BaseProcess:
        process = _servers.Process(target=function, args=arguments)  # type: ignore[arg-type]
        process.start()
        return process


def _killed(process: BaseProcess) -> int:
    assert process.pid is not None
    if process.is_alive():
        os.kill(process.pid, signal.SIGKILL)
    process.join()
    return process.pid
