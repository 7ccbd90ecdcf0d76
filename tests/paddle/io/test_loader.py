"""DataLoader: forms of batches, workers, and what it refuses."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.io import BatchSampler, DataLoader, Dataset, IterableDataset, _loader, get_worker_info

Pair = namedtuple("Pair", "a b")


@pytest.fixture(autouse=True)
def turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers take turns in this process; those that are processes have a file of their own."""
    monkeypatch.setattr(_loader, "in_processes", lambda: False)


class Samples(Dataset):
    """The samples that a function makes."""

    def __init__(self, count: int, make: Callable[[int], Any]) -> None:
        self.count = count
        self.make = make

    def __getitem__(self, idx: int) -> Any:
        return self.make(idx)

    def __len__(self) -> int:
        return self.count


class Counted(Dataset):
    """Who read which sample, and how many had been read before."""

    def __init__(self) -> None:
        self.count = 0

    def __getitem__(self, idx: int) -> np.ndarray[Any, Any]:
        worker = get_worker_info()
        assert worker is not None
        self.count += 1
        return np.array([idx, worker.id, worker.num_workers, self.count])

    def __len__(self) -> int:
        return 6


class Stream(IterableDataset):
    def __init__(self, stop: int) -> None:
        self.start = 0
        self.stop = stop

    def __iter__(self) -> Iterator[Any]:
        worker = get_worker_info()
        return (np.array([i, -1 if worker is None else worker.id]) for i in range(self.start, self.stop))


def plain(batch: Any) -> Any:
    """Tensors as their type and values."""
    if isinstance(batch, paddle.Tensor):
        return batch.dtype.name, batch.tolist()
    if isinstance(batch, dict):
        return {k: plain(v) for k, v in batch.items()}
    return [plain(v) for v in batch] if isinstance(batch, list) else batch


def batches(make: Callable[[int], Any], **settings: Any) -> list[Any]:
    return [plain(b) for b in DataLoader(Samples(3, make), **{"batch_size": 2, **settings})]


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize(
    ("make", "first"),
    [
        (lambda i: i, ("int64", [0, 1])),
        (lambda i: i / 2, ("float64", [0.0, 0.5])),
        (lambda i: i > 0, ("bool", [False, True])),
        (lambda i: np.int32(i), ("int32", [0, 1])),
        (lambda i: np.float32([i]), ("float32", [[0.0], [1.0]])),
        (lambda i: paddle.full([1], i, "float64"), ("float64", [[0.0], [1.0]])),
        (lambda i: (np.float32([i]), i), [("float32", [[0.0], [1.0]]), ("int64", [0, 1])]),
        (lambda i: {"x": float(i), "y": [i, i]}, {"x": ("float64", [0, 1]), "y": [("int64", [0, 1])] * 2}),
        (lambda i: Pair(i, i), [("int64", [0, 1])] * 2),
        (lambda i: (i, f"s{i}"), [("int64", [0, 1]), ["s0", "s1"]]),
    ],
)
def test_samples_are_stacked_field_by_field(make: Callable[[int], Any], first: Any) -> None:
    assert batches(make)[0] == first
    assert len(batches(make)) == 2


@pytest.mark.usefixtures("dynamic")
def test_which_samples_make_up_a_batch() -> None:
    def numbers(**settings: Any) -> list[Any]:
        return [batch.tolist() for batch in DataLoader(Samples(5, lambda i: i), **settings)]

    assert numbers() == [[0], [1], [2], [3], [4]]
    assert numbers(batch_size=2, drop_last=True) == [[0, 1], [2, 3]]
    assert numbers(batch_sampler=[[4, 0], [1]]) == [[4, 0], [1]]
    assert numbers(batch_sampler=BatchSampler(sampler=[3, 2, 1], batch_size=2)) == [[3, 2], [1]]
    np.random.seed(3)
    shuffled = numbers(shuffle=True)
    np.random.seed(3)
    assert [i for (i,) in shuffled] == np.random.permutation(5).tolist()


@pytest.mark.usefixtures("dynamic")
def test_how_many_batches_there_are() -> None:
    samples = Samples(5, lambda i: i)
    assert len(DataLoader(samples, batch_size=2)) == 3
    assert len(DataLoader(samples, batch_size=2, drop_last=True)) == 2
    assert len(DataLoader(samples, batch_size=None)) == 5
    assert len(DataLoader(samples, batch_sampler=[[1], [2]])) == 2
    with pytest.raises(ValueError, match="length of IterableDataset not supported"):
        len(DataLoader(Stream(3)))


@pytest.mark.usefixtures("dynamic")
def test_single_samples_and_a_function_that_collates() -> None:
    assert batches(lambda i: (np.float32([i]), i), batch_size=None)[1] == [("float32", [1.0]), 1]
    assert batches(lambda i: i, collate_fn=lambda samples: np.array(samples) * 10)[1] == ("int64", [20])
    assert batches(lambda i: i, collate_fn=lambda sample: np.array([sample]), batch_size=None)[2] == ("int64", [2])


@pytest.mark.usefixtures("dynamic")
def test_no_gradient_passes_a_loader() -> None:
    weight = paddle.to_tensor([[1.0], [2.0]], stop_gradient=False)
    (batch,) = next(iter(DataLoader(paddle.io.TensorDataset([weight]), batch_size=2)))
    assert batch.stop_gradient


@pytest.mark.usefixtures("dynamic")
def test_streams() -> None:
    def read(**settings: Any) -> list[Any]:
        return [b.numpy()[..., 0].tolist() for b in iter(DataLoader(Stream(5), **settings))]

    assert read(batch_size=2) == [[0, 1], [2, 3], [4]]
    assert read(batch_size=2, drop_last=True) == [[0, 1], [2, 3]]
    assert read(batch_size=None) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="not support shuffle"):
        DataLoader(Stream(5), shuffle=True)
    with pytest.raises(ValueError, match="unspecified batch_sampler"):
        DataLoader(Stream(5), batch_sampler=[[0]])


@pytest.mark.usefixtures("dynamic")
def test_workers_read_batches_in_turn_each_from_its_own_copy() -> None:
    loader = DataLoader(Counted(), batch_size=2, num_workers=2)
    first = [[0, 0, 2, 1], [1, 0, 2, 2]], [[2, 1, 2, 1], [3, 1, 2, 2]], [[4, 0, 2, 3], [5, 0, 2, 4]]
    assert [b.tolist() for b in loader] == [*first]
    assert [b.tolist() for b in loader] == [*first], "new workers in each epoch"
    assert get_worker_info() is None
    lasting = DataLoader(Counted(), batch_size=2, num_workers=2, persistent_workers=True)
    assert [[b.numpy()[-1, -1] for b in lasting] for _ in range(2)] == [[2, 2, 4], [6, 4, 8]]


@pytest.mark.usefixtures("dynamic")
def test_streams_of_workers_as_in_paddle() -> None:
    def begin(number: int) -> None:
        worker = get_worker_info()
        assert worker is not None
        assert worker.id == number
        worker.dataset.start = 2 * number

    loader = DataLoader(Stream(7), batch_size=2, num_workers=2, worker_init_fn=begin)
    expected = [(0, [0, 1]), (1, [2, 3]), (0, [2, 3]), (1, [4, 5]), (0, [4, 5]), (1, [6]), (0, [6])]
    assert [(b.numpy()[0, 1], b.numpy()[:, 0].tolist()) for b in iter(loader)] == expected


@pytest.mark.usefixtures("dynamic")
def test_workers_have_random_numbers_of_their_own() -> None:
    def drawn() -> tuple[list[Any], int]:
        np.random.seed(0)
        loader = DataLoader(Samples(4, lambda i: np.random.randint(10**9)), num_workers=2)
        return [b.tolist() for b in loader], np.random.randint(1000)

    numbers, after = drawn()
    assert (numbers, after) == drawn()
    assert len({n for (n,) in numbers}) == 4
    assert after == 629, "as many draws are taken from the stream of the process as in Paddle"


@pytest.mark.usefixtures("dynamic")
def test_an_error_of_a_data_set_comes_as_it_is() -> None:
    for workers in (0, 2):
        with pytest.raises(ZeroDivisionError):
            next(iter(DataLoader(Samples(1, lambda i: 1 // i), num_workers=workers)))
    with pytest.raises(TypeError, match="can only contain tensor"):
        batches(lambda i: None)
    with pytest.raises(RuntimeError, match="fields number not same"):
        batches(lambda i: [i] * (i + 1))


def test_static_mode_gives_what_is_fed() -> None:
    x = paddle.static.data("x", [None, 2], "float32")
    y = paddle.static.data("y", [None], "int64")
    samples = Samples(3, lambda i: (np.float32([i, 1]), i))
    (feed,) = next(iter(DataLoader(samples, feed_list=[x, y], batch_size=2, return_list=False)))
    values, labels = next(iter(DataLoader(samples, batch_size=2)))
    assert values.tolist() == [[0.0, 1.0], [1.0, 1.0]]
    loss = paddle.mean(x)
    assert paddle.static.Executor().run(feed=feed, fetch_list=[loss, y])[1].tolist() == labels.tolist()
    assert loss.shape == ()
    with pytest.raises(AssertionError, match="feed_list should be set"):
        DataLoader(samples, return_list=False)
    with pytest.raises(ValueError, match="feed_list has 1 variables, and a batch 2 fields"):
        next(iter(DataLoader(samples, feed_list=[x], return_list=False)))


@pytest.mark.usefixtures("dynamic")
def test_settings_that_do_not_fit() -> None:
    samples = Samples(5, lambda i: i)
    for settings in ({"batch_size": 2}, {"shuffle": True}, {"drop_last": True}):
        with pytest.raises(AssertionError, match="should not be set when batch_sampler is given"):
            DataLoader(samples, batch_sampler=[[1]], **settings)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="None or a positive value"):
        DataLoader(samples, batch_size=0)
    with pytest.raises(AssertionError, match="num_workers should be a non-negative value"):
        DataLoader(samples, num_workers=-1)
    with pytest.raises(AssertionError, match="timeout should be a non-negative value"):
        DataLoader(samples, timeout=-1)
