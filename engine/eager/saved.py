"""``saved_tensors_hooks``: the user's say in how values wait for backward."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any

from ..core.errors import ArgumentTypeError, GradientError
from .tensor import Tensor

Pack = Callable[[Tensor], Any]
Unpack = Callable[[Any], Tensor]


class saved_tensors_hooks:
    """Keep ``pack(tensor)`` instead of each tensor that backward will need, and get it back by ``unpack``.

    Called once per value that an operator retains. Values can wait in a file or in fewer bits this way:
    ``with saved_tensors_hooks(lambda t: t.numpy(), paddle.to_tensor): ...``

    Args:
        pack_hook: takes a Tensor, returns anything.
        unpack_hook: takes what *pack_hook* returned, returns a Tensor of the same shape and dtype.

    Raises:
        ArgumentTypeError: a hook cannot be called (a TypeError).
        GradientError: at backward, when *unpack_hook* returns something else.
    """

    def __init__(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise ArgumentTypeError(
                    f"saved_tensors_hooks: {name} must be a function, but received {type(hook).__name__}."
                )
        self._pack = pack_hook
        self._unpack = unpack_hook
        self._tokens: list[Token[saved_tensors_hooks | None]] = []

    def __enter__(self) -> None:
        if not packed:
            packed.append(True)
        self._tokens.append(packing.set(self))

    def __exit__(self, *exception: object) -> None:
        packing.reset(self._tokens.pop())

    def pack(self, tensor: Tensor) -> PackedValue:
        """Return what is kept of *tensor*, a forward input."""
        return PackedValue(tensor, self._pack_tensor(tensor), self._unpack, whole=True)

    def pack_values(self, tensor: Tensor) -> PackedValue:
        """Return what is kept of the values of *tensor*, a result: nothing kept may point back to its node."""
        return PackedValue(tensor, self._pack_tensor(tensor.detach()), self._unpack, whole=False)

    def _pack_tensor(self, tensor: Tensor) -> Any:
        token = packing.set(None)  # what the hook itself computes is kept as usual
        try:
            return self._pack(tensor)
        finally:
            packing.reset(token)


packing: ContextVar[saved_tensors_hooks | None] = ContextVar("gradtool_saved_tensors_hooks", default=None)
"""The hooks in force, or None."""

packed: list[bool] = []
"""Holds something once there were hooks in this process: whoever looks here first need not ask which are in force."""


class PackedValue:
    """A retained value as a pack hook left it, with what it takes to put its tensor back in its place."""

    __slots__ = ("_like", "_spec", "_unpack", "_value")

    def __init__(self, tensor: Tensor, value: Any, unpack: Unpack, whole: bool) -> None:
        self._value = value
        self._unpack = unpack
        self._spec = tensor.spec
        self._like = tensor.placed if whole else None

    @property
    def exact(self) -> bool:
        """True if what comes back is sure to be what was packed, to the bit: recompute checks it."""
        return getattr(self._value, "exact", False)

    def unpack(self) -> Any:
        """The tensor, or the array where only the values were kept."""
        tensor = self._unpack(self._value)
        if not isinstance(tensor, Tensor) or tensor.spec is not self._spec:
            came = str(tensor.spec) if isinstance(tensor, Tensor) else type(tensor).__name__
            raise GradientError(f"unpack_hook must return the tensor of {self._spec} that was packed, not {came}.")
        return tensor.array if self._like is None else self._like(tensor.array)


def unpack(value: Any) -> Any:
    """*value* without its packing."""
    return value.unpack() if isinstance(value, PackedValue) else value
