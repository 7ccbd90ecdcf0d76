"""Hooks that are called before and after a layer computes."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from gradtool.engine.core.errors import UsageError
from gradtool.engine.eager.tensor import HookHandle


class Hook(NamedTuple):
    """Hook that a user registered.

    Attributes:
        with_kwargs: it gets the keyword arguments of the call as well.
        always_call: it is called after a call that failed, too.
    """

    function: Callable[..., Any]
    with_kwargs: bool = False
    always_call: bool = False

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)

    def after(self, layer: Any, inputs: Any, kwargs: Any, outputs: Any) -> Any:
        """Call it with what the layer gave; what it returns, unless None, replaces that."""
        args = (inputs, kwargs, outputs) if self.with_kwargs else (inputs, outputs)
        changed = self.function(layer, *args)
        return outputs if changed is None else changed


class NoPair(UsageError, RuntimeError):
    """A hook with keyword arguments returned no pair (Paddle raises RuntimeError)."""


class LayerHooks:
    """The part of :class:`Layer` that knows hooks."""

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookHandle:
        """Call ``hook(layer, inputs)`` before ``forward``; what it returns, unless None, replaces the inputs.

        Args:
            prepend: call it before the others.
            with_kwargs: call ``hook(layer, inputs, kwargs)``, which returns a pair of both or None.
        """
        return _registered(self.__dict__["_forward_pre_hooks"], Hook(hook, with_kwargs), prepend)

    def register_forward_post_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> HookHandle:
        """Call ``hook(layer, inputs, outputs)`` after ``forward``; what it returns, unless None, replaces them.

        Args:
            prepend: call it before the others.
            with_kwargs: call ``hook(layer, inputs, kwargs, outputs)``.
            always_call: call it after a ``forward`` that failed, too; outputs are then None.
        """
        return _registered(self.__dict__["_forward_post_hooks"], Hook(hook, with_kwargs, always_call), prepend)

    register_forward_hook = register_forward_post_hook

    def _build_once(self, *inputs: Any, **kwargs: Any) -> None:
        """Called with the inputs of the first call, before ``forward``; for subclasses."""

    def _call_with_hooks(self, inputs: Any, kwargs: Any) -> Any:
        """Call the layer with its hooks before and after."""
        fields, after = self.__dict__, {}
        try:
            inputs, kwargs = _changed(self, inputs, kwargs)
            if not fields["_built"]:
                self._build_once(*inputs, **kwargs)
                fields["_built"] = True
            outputs = self.forward(*inputs, **kwargs)  # type: ignore[attr-defined]
            for key, hook in list(fields["_forward_post_hooks"].items()):
                after[key] = hook
                outputs = hook.after(self, inputs, kwargs, outputs)
        except Exception:
            left = [h for key, h in fields["_forward_post_hooks"].items() if h.always_call and key not in after]
            _call_all_the_same(left, self, inputs, kwargs)
            raise
        return outputs


def _registered(hooks: OrderedDict[int, Hook], hook: Hook, prepend: bool) -> HookHandle:
    handle = HookHandle(hooks, hook)
    if prepend:
        hooks.move_to_end(next(reversed(hooks)), last=False)
    return handle


def _changed(layer: Any, inputs: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments of a call as the hooks before it want them."""
    for hook in list(layer.__dict__["_forward_pre_hooks"].values()):
        changed = hook(layer, inputs, kwargs) if hook.with_kwargs else hook(layer, inputs)
        if changed is None:
            continue
        if not hook.with_kwargs:
            inputs = changed if isinstance(changed, tuple) else (changed,)
        elif isinstance(changed, tuple) and len(changed) == 2:
            inputs, kwargs = changed
        else:
            raise NoPair(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
    return inputs, kwargs


def _call_all_the_same(hooks: list[Hook], layer: Any, inputs: Any, kwargs: Any) -> None:
    """Call *hooks* after a call that failed; what they raise is a warning, since the first error is told."""
    outputs = None
    for hook in hooks:
        try:
            outputs = hook.after(layer, inputs, kwargs, outputs)
        except Exception as error:
            warnings.warn(
                "forward hook with ``always_call=True`` raised an exception that was silenced as another error was "
                f"raised in forward: {error}",
                stacklevel=4,
            )
