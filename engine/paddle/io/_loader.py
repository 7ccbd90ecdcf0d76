"""``paddle.io.DataLoader``: batches of a data set, one after the other."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from gradtool.engine.core import watch
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.state import in_static_mode

from ._batches import BatchSampler, cut
from ._collate import default_collate_fn, default_convert_fn, delivered
from ._datasets import IterableDataset
from ._errors import DataError
from ._processes import END, Crew, in_processes
from ._workers import Worker, WorkerInfo, infos, workers


class DataLoader:
    """Batches of a data set: tensors in the containers that *collate_fn* gives; in static mode arrays, to be fed.

    Args:
        dataset: read by number, or an :class:`IterableDataset`.
        feed_list: static mode: the variables that are fed, where *return_list* is False.
        places: accepted for compatibility; there is one.
        return_list: static mode: a list of values instead of a list of one dict that can be fed.
        batch_sampler: which samples make up each batch; then the three arguments that follow keep their defaults.
        batch_size: how many samples make up a batch; None to hand out single samples.
        collate_fn: from a list of samples to a batch; stacks them field by field when None.
        num_workers: how many processes read, each with a copy of the data set and random numbers of its own. Where
            gradtool runs the script, and where processes cannot be forked, they take turns in this one: the same
            batches come, and an error comes as it is.
        prefetch_factor: how many batches a worker reads ahead.
        timeout: how many seconds a process may take for a batch; 0: as long as it takes.
        use_buffer_reader, reader_buffer_size, use_shared_memory: accepted for compatibility.
        worker_init_fn: called with the number of each worker before it reads.
        persistent_workers: the same workers in every epoch; :meth:`close` ends them.

    Raises:
        DataError: arguments that do not fit (an AssertionError).
        UsageError: an iterable data set with *shuffle* or *batch_sampler* (a ValueError).

    >>> from gradtool import paddle
    >>> loader = paddle.io.DataLoader([1.0, 2.0, 3.0], batch_size=2)
    >>> [batch.tolist() for batch in loader]
    [[1.0, 2.0], [3.0]]
    """

    def __init__(
        self,
        dataset: Any,
        feed_list: Sequence[Any] | None = None,
        places: Any = None,
        return_list: bool = True,
        batch_sampler: Any = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[Any], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        reader_buffer_size: int = 2,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: int = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        persistent_workers: bool = False,
    ) -> None:
        if num_workers < 0:
            raise DataError("num_workers should be a non-negative value")
        if timeout < 0:
            raise DataError("timeout should be a non-negative value")
        if not return_list and in_static_mode() and feed_list is None:
            raise DataError("feed_list should be set when return_list=False")
        self.dataset = dataset
        self.feed_list = feed_list
        self.return_list = return_list
        self.batch_size = batch_size if batch_sampler is None else None
        self.drop_last = drop_last
        self.num_workers = num_workers
        self.worker_init_fn = worker_init_fn
        self.batch_sampler = _batches(dataset, batch_sampler, batch_size, shuffle, drop_last)
        self.auto_collate_batch = self.batch_sampler is not None or batch_size is not None
        self.collate_fn = collate_fn or (default_collate_fn if self.auto_collate_batch else default_convert_fn)
        self._persistent = persistent_workers
        self._workers: list[Worker] = []
        self._timeout = timeout
        self._ahead = prefetch_factor
        self._crew_of_processes: Crew | None = None
        self._epochs = 0

    def __len__(self) -> int:
        """Return the number of batches.

        Raises:
            UsageError: the data set is iterable, and nobody knows (a ValueError).
        """
        if isinstance(self.dataset, IterableDataset):
            raise UsageError("length of IterableDataset not supported")
        return len(self.batch_sampler if self.auto_collate_batch else self.dataset)

    def __iter__(self) -> Iterator[Any]:
        if watch.noting:
            watch.note(watch.DataBegan(self))
        stream = isinstance(self.dataset, IterableDataset)
        if self.num_workers and in_processes():
            batches = self._from_processes(stream)
        elif self.num_workers:
            batches = self._streams_in_turn() if stream else self._read_in_turn()
        else:
            batches = self._stream(self.dataset) if stream else map(self._read, self._chosen())
        return map(self._handed_out, batches)

    def __call__(self) -> Iterator[Any]:
        """The batches."""
        return iter(self)

    def _chosen(self) -> Iterator[Any]:
        """The numbers of each batch, or of each sample."""
        return iter(self.batch_sampler if self.auto_collate_batch else range(len(self.dataset)))

    def _read(self, chosen: Any, dataset: Any = None) -> Any:
        dataset = self.dataset if dataset is None else dataset
        samples = [dataset[i] for i in chosen] if self.auto_collate_batch else dataset[chosen]
        return self.collate_fn(samples)

    def _stream(self, dataset: Iterable[Any]) -> Iterator[Any]:
        if self.batch_size is None:
            return map(self.collate_fn, dataset)
        return map(self.collate_fn, cut(dataset, self.batch_size, self.drop_last))

    def close(self) -> None:
        """End the processes that persist between epochs."""
        crew, self._crew_of_processes = self._crew_of_processes, None
        if crew is not None:
            crew.close()

    def _from_processes(self, stream: bool) -> Iterator[Any]:
        """Yield the batches that processes read; they end with the epoch, unless they persist and it came
        to its end.
        """
        if self._crew_of_processes is None:
            read = self._next_of_stream if stream else self._batch_of
            self._crew_of_processes = Crew(infos(self.dataset, self.num_workers), read, self._timeout)
        self._epochs += 1
        requests = itertools.repeat(self._epochs) if stream else self._chosen()
        lasting = False
        try:
            yield from self._crew_of_processes.in_turn(requests, self._ahead)
            lasting = self._persistent
        finally:
            if not lasting:
                self.close()

    def _batch_of(self, info: WorkerInfo) -> Callable[[Any], Any]:
        """In a worker: what reads a batch."""
        if self.worker_init_fn is not None:
            self.worker_init_fn(info.id)
        return lambda chosen: self._read(chosen, info.dataset)

    def _next_of_stream(self, info: WorkerInfo) -> Callable[[Any], Any]:
        """In a worker: what reads the next batch of its stream in an epoch."""
        if self.worker_init_fn is not None:
            self.worker_init_fn(info.id)
        streams: dict[Any, Iterator[Any]] = {}

        def following(epoch: int) -> Any:
            if epoch not in streams:
                streams.clear()
                streams[epoch] = iter(self._stream(info.dataset))
            return next(streams[epoch], END)

        return following

    def _crew(self) -> list[Worker]:
        """The workers of this epoch."""
        if self._persistent and self._workers:
            return self._workers
        self._workers = workers(self.dataset, self.num_workers, self.worker_init_fn)
        return self._workers

    def _read_in_turn(self) -> Iterator[Any]:
        """Each worker reads one batch after the other had theirs."""
        crew = self._crew()
        for i, chosen in enumerate(self._chosen()):
            with crew[i % len(crew)].turn() as dataset:
                batch = self._read(chosen, dataset)
            yield batch

    def _streams_in_turn(self) -> Iterator[Any]:
        """Each worker goes through its own stream; who has come to the end is left out."""
        queue: deque[tuple[Worker, Iterator[Any]]] = deque()
        for worker in self._crew():
            with worker.turn() as dataset:
                queue.append((worker, self._stream(dataset)))
        while queue:
            worker, stream = queue.popleft()
            with worker.turn():
                batch = next(stream, _OVER)
            if batch is not _OVER:
                queue.append((worker, stream))
                yield batch

    def _handed_out(self, batch: Any) -> Any:
        values = delivered(batch)
        if not in_static_mode():
            return values
        fields = values if isinstance(values, list) else [values]
        if self.return_list:
            return fields
        names = [variable.name for variable in self.feed_list or ()]
        if len(names) != len(fields):
            raise UsageError(f"feed_list has {len(names)} variables, and a batch {len(fields)} fields.")
        return [dict(zip(names, fields, strict=True))]


_OVER = object()


def _batches(dataset: Any, batch_sampler: Any, batch_size: Any, shuffle: bool, drop_last: bool) -> Any:
    """The batch sampler that the arguments ask for; None where samples are handed out as they come."""
    if isinstance(dataset, IterableDataset):
        if shuffle:
            raise UsageError(f"IterableDataset not support shuffle, but got shuffle={shuffle}")
        if batch_sampler is not None:
            raise UsageError("IterableDataset expect unspecified batch_sampler")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or drop_last:
            raise DataError("batch_size/shuffle/drop_last should not be set when batch_sampler is given")
        return batch_sampler
    if batch_size is None:
        return None
    if batch_size <= 0:
        raise DataError("batch_size should be None or a positive value when batch_sampler is not given")
    if isinstance(dataset, IterableDataset):
        return None
    return BatchSampler(dataset, shuffle=shuffle, batch_size=batch_size, drop_last=drop_last)
