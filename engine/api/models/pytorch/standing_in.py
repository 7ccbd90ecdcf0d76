"""Names of PyTorch that tell a recorder what no operator tells, while a program runs."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch

from . import events
from .recorder import returns_at

if TYPE_CHECKING:
    from .recorder import TorchRecorder

_MISSING = object()


@contextmanager
def standing_in(recorder: TorchRecorder) -> Iterator[None]:
    """Have these names tell *recorder* inside."""
    with ExitStack() as stack:
        for owner, name, made in _rows(recorder):
            before = vars(owner).get(name, _MISSING)
            setattr(owner, name, made)
            stack.callback(_give_back, owner, name, before)
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        begin, end = _steps(recorder)
        stack.callback(register_optimizer_step_pre_hook(begin).remove)
        stack.callback(register_optimizer_step_post_hook(end).remove)
        yield


def _give_back(owner: Any, name: str, before: Any) -> None:
    if before is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, before)


def _rows(recorder: TorchRecorder) -> Iterator[tuple[Any, str, Any]]:
    """Whose name is stood in for, the name, and what stands there."""
    tensor, base = torch.Tensor, torch._C.TensorBase
    # values without a way back
    for owner in (tensor, torch):
        yield owner, "detach", _detaching(recorder, owner.detach, "detach")
    yield tensor, "detach_", _detaching(recorder, base.detach_, "detach", in_place=True)
    data = base.data
    yield tensor, "data", property(_detaching(recorder, data.__get__, "data"), data.__set__)
    # values that go to Python
    for name in ("item", "tolist", "numpy", "__array__", "__float__", "__int__"):
        yield tensor, name, _leaving(recorder, getattr(tensor, name), name)
    for name in ("from_numpy", "as_tensor"):
        yield torch, name, _entering(recorder, getattr(torch, name))
    # what takes gradients
    requires = base.requires_grad
    yield tensor, "requires_grad", property(requires.__get__, _requiring(recorder, requires.__set__))
    yield tensor, "requires_grad_", _requiring_(recorder, base.requires_grad_)
    yield torch.nn.Parameter, "__new__", staticmethod(_bearing(recorder, torch.nn.Parameter.__new__))
    # backward
    yield torch.autograd, "backward", _backward(recorder, torch.autograd.backward)
    yield torch.autograd, "grad", _grad(recorder, torch.autograd.grad)
    yield tensor, "register_hook", _hooking(recorder, tensor.register_hook)
    gradient = base.grad
    reading = _reading_grad(recorder, gradient.__get__)
    yield tensor, "grad", property(reading, _setting_grad(recorder, gradient.__set__), gradient.__delete__)
    # modes
    modes = torch.autograd.grad_mode
    for guard, enabled in ((modes.no_grad, False), (modes.enable_grad, True), (modes.inference_mode, False)):
        yield guard, "__enter__", _entered(recorder, guard.__enter__, enabled)
        yield guard, "__exit__", _left(recorder, guard.__exit__)
    yield modes.set_grad_enabled, "__init__", _switching(recorder, modes.set_grad_enabled.__init__)
    yield modes.set_grad_enabled, "__exit__", _left(recorder, modes.set_grad_enabled.__exit__)
    # optimizers
    optimizer = torch.optim.Optimizer
    yield optimizer, "__init__", _listing(recorder, optimizer.__init__)
    yield optimizer, "zero_grad", _clearing(recorder, optimizer.zero_grad, _of_optimizer)
    yield torch.nn.Module, "__setattr__", _replacing(recorder, torch.nn.Module.__setattr__)
    yield torch.nn.Module, "zero_grad", _clearing(recorder, torch.nn.Module.zero_grad, _of_module)


def _detaching(
    recorder: TorchRecorder, original: Callable[..., Any], how: str, *, in_place: bool = False
) -> Callable[..., Any]:
    @functools.wraps(original)
    def detach(t: Any) -> Any:
        if recorder.quiet:
            return original(t)
        recorder.flush()
        site = recorder.site()
        number = recorder.number(t, site)
        if recorder.spares(site):
            return t
        with recorder.unheard():
            made = original(t)
        if in_place:  # another value from here on
            recorder.forget(t)
        recorder.tell_detached(number, made, how, site)
        return made

    return detach


def _leaving(recorder: TorchRecorder, original: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(original)
    def leave(t: Any, *args: Any, **named: Any) -> Any:
        if recorder.quiet:
            return original(t, *args, **named)
        recorder.flush()
        site = recorder.site()
        number = recorder.number(t, site)
        with recorder.unheard():
            values = original(t, *args, **named)
        recorder.sink(events.Left(number, name, site))
        return values

    return leave


def _entering(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def enter(*args: Any, **named: Any) -> Any:
        made = original(*args, **named)
        if not recorder.quiet:
            recorder.flush()
            recorder.number(made)
        return made

    return enter


def _requiring(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., None]:
    def requires(t: Any, takes: bool) -> None:
        recorder.flush()
        if recorder.quiet:
            original(t, takes)
            return
        site = recorder.site()
        recorder.number(t, site)
        original(t, takes or recorder.spares(site))
        recorder.tell_requires(t, "requires_grad", site)

    return requires


def _requiring_(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def requires(t: Any, takes: bool = True) -> Any:
        if recorder.quiet:
            return original(t, takes)
        recorder.flush()
        site = recorder.site()
        recorder.number(t, site)
        original(t, takes or recorder.spares(site))
        recorder.tell_requires(t, "requires_grad_", site)
        return t

    return requires


def _bearing(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def new(cls: type, data: Any = None, requires_grad: bool = True) -> Any:
        recorder.flush()
        with recorder.unheard():
            made = original(cls, data, requires_grad)
        if not recorder.quiet:
            recorder.number(made, parameter=True)
        return made

    return new


def _backward(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def backward(
        tensors: Any,
        grad_tensors: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        grad_variables: Any = None,
        inputs: Any = None,
    ) -> None:
        def run() -> None:
            original(tensors, grad_tensors, retain_graph, create_graph, grad_variables, inputs)

        if recorder.quiet:
            run()
            return
        roots = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        seeds = [grad_tensors] if grad_tensors is None or isinstance(grad_tensors, torch.Tensor) else list(grad_tensors)
        seeds = seeds if len(seeds) == len(roots) else [None] * len(roots)
        retains = bool(create_graph if retain_graph is None else retain_graph)
        recorder.passed(roots, seeds, "backward", retains, create_graph, run)

    return backward


def _grad(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def grad(
        outputs: Any,
        inputs: Any,
        grad_outputs: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        *args: Any,
        **named: Any,
    ) -> Any:
        def run() -> Any:
            return original(outputs, inputs, grad_outputs, retain_graph, create_graph, *args, **named)

        if recorder.quiet:
            return run()
        roots = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
        seeds = [grad_outputs] if isinstance(grad_outputs, torch.Tensor) else list(grad_outputs or [None] * len(roots))
        retains = bool(create_graph if retain_graph is None else retain_graph)
        return recorder.passed(roots, seeds, "grad", retains, create_graph, run)

    return grad


_hooks = itertools.count(1)


def _hooking(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def register_hook(t: Any, hook: Callable[..., Any]) -> Any:
        if recorder.quiet:
            return original(t, hook)
        recorder.flush()
        site = recorder.site()
        key = next(_hooks)
        recorder.sink(events.Hooking(recorder.number(t, site), key, returns_at(hook), site))

        def called(gradient: Any) -> Any:
            result = hook(gradient)
            recorder.tell_hooked(key, gradient, result)
            return result

        return original(t, called)

    return register_hook


def _reading_grad(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    def read_grad(t: Any) -> Any:
        value = original(t)
        if value is not None and not recorder.quiet:
            recorder.flush()
            recorder.note_grad(t, value)
        return value

    return read_grad


def _setting_grad(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., None]:
    def set_grad(t: Any, value: Any) -> None:
        original(t, value)
        if value is None and not recorder.quiet:
            recorder.flush()
            site = recorder.site()
            recorder.sink(events.Cleared(recorder.number(t, site), "grad = None", True, site))

    return set_grad


def _entered(recorder: TorchRecorder, original: Callable[..., Any], enabled: bool) -> Callable[..., Any]:
    @functools.wraps(original)
    def enter(guard: Any) -> Any:
        site, spared = recorder.site(), False
        if not recorder.quiet:
            recorder.flush()
            spared = recorder.spares(site)
            recorder.sink(events.Guarding(spared or enabled or not getattr(guard, "mode", True), site))
        with recorder.unheard():  # it switches through others of these names
            result = original(guard)
        if spared:
            torch._C._set_grad_enabled(True)
        return result

    return enter


def _left(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def leave(guard: Any, *error: Any) -> Any:
        if not recorder.quiet:
            recorder.flush()  # while it holds
            recorder.sink(events.Guarded())
        with recorder.unheard():
            return original(guard, *error)

    return leave


def _switching(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def switch(guard: Any, mode: bool) -> None:
        if not recorder.quiet:
            recorder.flush()
            mode = mode or recorder.spares(recorder.site())
            recorder.sink(events.Guarding(bool(mode), recorder.site()))
        original(guard, mode)

    return switch


def _of_optimizer(optimizer: Any) -> list[Any]:
    return [p for group in optimizer.param_groups for p in group["params"]]


def _of_module(module: Any) -> list[Any]:
    return list(module.parameters())


def _replacing(recorder: TorchRecorder, original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def assign(module: Any, name: str, value: Any) -> None:
        held = vars(module).get("_modules", {}).get(name)
        if held is None:
            held = vars(module).get("_parameters", {}).get(name)
        if held is None or recorder.quiet:
            original(module, name, value)
            return
        recorder.flush()
        before = _paths(recorder, held)
        original(module, name, value)
        after = _paths(recorder, value)
        if before and before != after:
            recorder.sink(events.Replaced(before, after, recorder.site()))

    return assign


def _paths(recorder: TorchRecorder, value: Any) -> tuple[tuple[str, int], ...]:
    """The parameters in what an attribute holds, by their paths from it."""
    if isinstance(value, torch.nn.Module):
        return tuple([(path, recorder.number(p)) for path, p in value.named_parameters()])
    return (("", recorder.number(value)),) if isinstance(value, torch.nn.Parameter) else ()


def _listing(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def init(optimizer: Any, *args: Any, **named: Any) -> None:
        original(optimizer, *args, **named)
        recorder.flush()
        site = recorder.site()
        recorder.sink(events.Listed(tuple([recorder.number(p, site) for p in _of_optimizer(optimizer)]), site))

    return init


def _clearing(
    recorder: TorchRecorder, original: Callable[..., Any], of: Callable[[Any], list[Any]]
) -> Callable[..., Any]:
    @functools.wraps(original)
    def zero_grad(owner: Any, set_to_none: bool = True) -> Any:
        recorder.flush()
        site = recorder.site()
        tensors = [p for p in of(owner) if p.grad is not None]
        with recorder.unheard():
            result = original(owner, set_to_none)
        for p in tensors:
            recorder.sink(events.Cleared(recorder.number(p, site), "zero_grad", set_to_none, site))
        return result

    return zero_grad


def _steps(recorder: TorchRecorder) -> tuple[Callable[..., Any], Callable[..., None]]:
    """What is called before and after each step of an optimizer.

    What a closure computes inside of a step is the script's: the optimizer's own work is told around it.
    """
    sites: list[Any] = []

    def began(optimizer: Any) -> None:
        recorder.flush()
        site = recorder.site()
        sites.append(site)
        rate = optimizer.param_groups[0].get("lr")
        numbers = tuple([recorder.number(p, site) for p in _of_optimizer(optimizer)])
        name = type(optimizer).__name__
        recorder.sink(events.Updating(numbers, name, float(rate) if isinstance(rate, (int, float)) else None, site))
        recorder.begin_step()

    def ended(optimizer: Any) -> None:
        if not sites:
            return
        recorder.end_step()
        with recorder.aside():
            values = tuple([(recorder.number(p), recorder.array(p)) for p in _of_optimizer(optimizer)])
        recorder.sink(events.Updated(values, sites.pop()))

    def around(optimizer: Any, closure: Callable[[], Any]) -> Callable[[], Any]:
        def called() -> Any:
            ended(optimizer)
            result = closure()
            began(optimizer)
            return result

        return called

    def begin(optimizer: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        sites.clear()
        if callable(named.get("closure")):
            return args, {**named, "closure": around(optimizer, named["closure"])}
        if len(args) > 1 and callable(args[1]):
            return (args[0], around(optimizer, args[1]), *args[2:]), named
        began(optimizer)
        return None

    def end(optimizer: Any, *rest: Any) -> None:
        ended(optimizer)

    return begin, end
