"""Storages whose memory our arrays share: they keep that memory, and tensors that need another get it.

An array of NumPy's forbids torch to resize the storage that it is of. Where torch says so of a storage that nobody but
gradtool has an array of, its tensors are given a copy that can be resized, as they have it without gradtool. The old
memory stays with the arrays.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parameter import UninitializedTensorMixin

from ..recorded.patched_names import Row
from ..recorded.tensor_wrappers import is_from_framework

if TYPE_CHECKING:
    from .recorder import TorchRecorder

_base = torch._C.TensorBase
_below = torch._C.DispatchKeySet(torch._C.DispatchKey.ADInplaceOrView)


def storage_of(t: Any) -> Any:
    """Return the storage of a tensor; None of one that has none, or several."""
    if isinstance(t, UninitializedTensorMixin) or t.layout is not torch.strided or t.is_nested:
        return None
    return t.untyped_storage()


class Storages:
    """Known storages, by their addresses in torch."""

    def __init__(self) -> None:
        self._births: dict[int, tuple[Any, Any]] = {}
        self._held: dict[int, Any] = {}
        self._addressed: dict[int, Any] = {}

    # -- where memory was made ----------------------------------------------------------------------------------------

    def note_birth(self, t: Any, site: Any) -> None:
        """Note where the memory of *t* was made: most factories hand out another object than their operator gave."""
        storage = storage_of(t)
        if storage is not None:
            key = storage._cdata
            self._births[key] = weakref.ref(storage, _forget_on_death(self._births, key)), site

    def birth(self, t: Any) -> Any:
        """Return where the memory of *t* was made; None where no factory made it."""
        storage = storage_of(t)
        reference, site = self._births.get(0 if storage is None else storage._cdata, (None, None))
        return site if reference is not None and reference() is storage else None

    # -- memory that arrays share -------------------------------------------------------------------------------------

    def hold(self, t: Any) -> bool:
        """Note that *t* could be resized until now, when an array of ours begins to share its memory.

        False of a tensor that has no memory: the script has freed that of its storage.
        """
        storage = t.untyped_storage()
        if storage.resizable():
            if t.numel() and storage.nbytes() < _end(t):
                return False
            key = storage._cdata
            self._held[key] = weakref.ref(storage, _forget_on_death(self._held, key))
        return True

    def lend(self, t: Any) -> None:
        """Note that the script has an array of *t* itself, so that torch would refuse to resize it anyway."""
        storage = storage_of(t)
        if storage is not None:
            self._held.pop(storage._cdata, None)

    def note_address(self, storage: Any) -> None:
        """Note that the script has the address of *storage*, and may write there before a tensor of it is met."""
        key = storage._cdata
        self._addressed[key] = weakref.ref(storage, _forget_on_death(self._addressed, key))

    def is_addressed(self, storage: Any) -> bool:
        """Return whether the script has the address of *storage*."""
        return storage._cdata in self._addressed

    def is_held(self, storage: Any) -> bool:
        """Return whether only arrays of ours keep *storage* from being resized."""
        return storage._cdata in self._held

    def list_held(self, tensors: Iterable[Any]) -> list[Any]:
        """Return the storages of *tensors* that only arrays of ours keep from being resized."""
        own = {s._cdata: s for s in map(storage_of, tensors) if s is not None and self.is_held(s)}
        return list(own.values())

    def move(self, storage: Any, tensors: Iterable[Any]) -> tuple[Any, list[Any]]:
        """Give those of *tensors* that share *storage* a copy of it; return the copy, and them.

        Neither versions nor places in the graph change: torch sees the same tensors.
        """
        copy = torch.UntypedStorage(storage.nbytes())
        copy.copy_(storage)
        moved: list[Any] = []
        for t in tensors:
            if shares(t, storage):
                _set(t, copy, layout_of(t))
                moved.append(t)
        self._held.pop(storage._cdata, None)
        reference, site = self._births.pop(storage._cdata, (None, None))
        if reference is not None:
            key = copy._cdata
            self._births[key] = weakref.ref(copy, _forget_on_death(self._births, key)), site
        return copy, moved


def shares(t: Any, storage: Any) -> bool:
    """Return whether *storage* is that of *t*."""
    own = storage_of(t)
    return own is not None and bool(own._cdata == storage._cdata)


def _end(t: Any) -> int:
    """Return how many bytes of its storage a tensor needs."""
    reach = sum((n - 1) * step for n, step in zip(t.size(), t.stride(), strict=True))
    return int(t.element_size() * (t.storage_offset() + reach + 1))


def layout_of(t: Any) -> Any:
    """Return where in its storage a tensor lies; None where it has none."""
    return None if storage_of(t) is None else (t.storage_offset(), t.size(), t.stride())


def restore(tensors: Iterable[Any], layouts: Iterable[Any]) -> list[Any]:
    """Give tensors the layouts back that they had: torch changes them before it finds that there is no memory.

    Returns the tensors whose layouts had changed.
    """
    changed = [(t, layout) for t, layout in zip(tensors, layouts, strict=True) if layout != layout_of(t)]
    for t, layout in changed:
        _set(t, t.untyped_storage(), layout)
    return [t for t, _ in changed]


def _set(t: Any, storage: Any, layout: Any) -> None:
    """Give a tensor a storage, below autograd: neither its version nor its place in the graph changes."""
    with torch._C._AutoDispatchBelowAutograd(), torch._C._ExcludeDispatchKeyGuard(_below):
        _base.set_(t, storage, *layout)


def _forget_on_death(known: dict[int, Any], key: int) -> Callable[[Any], object]:
    return lambda _: known.pop(key, None)


def is_refused(error: RuntimeError) -> bool:
    """Return whether torch refused to resize a storage because of an array."""
    return "not resizable" in str(error)


def rows(recorder: TorchRecorder) -> Iterator[Row]:
    """Return whose name is stood in for, the name, and what stands there: what moves the memory of a storage."""
    storage = torch.UntypedStorage
    yield storage, "resize_", _wrap_resize(recorder, storage.resize_)
    for name in ("_share_fd_cpu_", "_share_filename_cpu_"):
        yield storage, name, _wrap_share(recorder, getattr(storage, name))
    for owner in (torch.UntypedStorage, torch.storage.TypedStorage):
        yield owner, "data_ptr", _wrap_address(recorder, owner.data_ptr)


def _wrap_resize(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def resize(storage: Any, *args: Any, **named: Any) -> Any:
        if recorder.is_elsewhere:
            return original(storage, *args, **named)
        recorder.flush()
        moved: list[Any] = []
        # A script that holds the storage would see that it is another one.
        if recorder.storages.is_held(storage) and sys.getrefcount(storage) <= _inline():
            storage, moved = recorder.move(storage)
        result = original(storage, *args, **named)
        recorder.tell_moved(moved or [t for t in recorder.list_living() if shares(t, storage)])
        return result

    return resize


def _wrap_share(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Memory becomes that of several processes: torch frees what it was before."""

    @functools.wraps(original)
    def share(storage: Any, *args: Any, **named: Any) -> Any:
        if storage.is_shared():
            return original(storage, *args, **named)
        recorder.flush()
        copy, moved = recorder.move(storage)
        result = original(copy if moved else storage, *args, **named)
        recorder.tell_moved(moved)
        return result

    return share


def _wrap_address(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """The program may write where a storage lies: tell of a tensor that lies there."""

    @functools.wraps(original)
    def address(storage: Any) -> Any:
        if not recorder.quiet and not is_from_framework(recorder, sys._getframe(1)):
            recorder.flush()
            # A typed storage stands for an untyped one.
            own = getattr(storage, "_untyped_storage", storage)
            recorder.storages.note_address(own)
            for t in [t for t in recorder.list_living() if shares(t, own)][:1]:
                recorder.tell_lent(t, "data_ptr")
        return original(storage)

    return address


@functools.cache
def _inline() -> int:
    """Return the references to an object that a caller has made for one call alone."""

    def count(storage: Any, *args: Any, **named: Any) -> int:
        return sys.getrefcount(storage)

    t = torch.zeros(1)
    return count(t.untyped_storage(), 0)
