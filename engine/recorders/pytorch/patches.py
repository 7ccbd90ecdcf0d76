"""Names of PyTorch that tell a recorder what no operator tells, while a program runs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import product
from typing import Any

import torch
import torch._functorch.eager_transforms
import torch._functorch.vmap
from torch.nn.utils import parametrize

from ...core.identity import identity
from ...script.effects import note_transformed
from ..recorded.patched_names import PatchedNames, Row
from ..recorded.recording_wrappers import Enclosed, wrap_apply, wrap_enter, wrap_exit, wrap_switch
from ..recorded.relays import wrap_relay
from ..recorded.schedules import Put, ScheduleRecorder, report_data_passes
from ..recorded.tensor_wrappers import (
    wrap_address,
    wrap_detach,
    wrap_entrance,
    wrap_export,
    wrap_grad_read,
    wrap_grad_write,
    wrap_hook,
    wrap_rebind,
    wrap_swap,
)
from ..recorded.training_wrappers import (
    StepRecorder,
    wrap_assign,
    wrap_clear,
    wrap_clip,
    wrap_mode,
    wrap_optimizer,
    wrap_parallel,
    wrap_scale,
    wrap_unscale,
)
from . import storages
from .compiling import hold_compiler
from .recorder import TorchRecorder


@contextmanager
def patch_torch(recorder: TorchRecorder) -> Iterator[None]:
    """Have these names tell *recorder* inside."""
    from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

    begin, end = _steps(recorder)
    with PatchedNames(()) as late, PatchedNames(_rows(recorder, late.put)) as recorder.names, ExitStack() as stack:
        stack.enter_context(hold_compiler(recorder, recorder.names))
        stack.callback(register_optimizer_step_pre_hook(begin).remove)
        stack.callback(register_optimizer_step_post_hook(end).remove)
        yield


def _rows(recorder: TorchRecorder, put: Put) -> Iterator[Row]:
    """Yield the rows of names to replace: the owner, the name, and its replacement.

    Args:
        put: replaces names of what the program brings along.
    """
    tensor, base = torch.Tensor, torch._C.TensorBase
    # values without a way back
    for owner in (tensor, torch):
        yield owner, "detach", wrap_detach(recorder, wrap_relay(owner.detach), "detach")
    yield tensor, "detach_", wrap_detach(recorder, wrap_relay(base.detach_), "detach", in_place=True)
    data = base.data
    setting_data = wrap_rebind(recorder, data.__set__, "data =", torch.is_tensor)
    yield tensor, "data", property(wrap_detach(recorder, data.__get__, "data"), setting_data)
    for name in ("set_", "resize_", "resize_as_"):
        yield tensor, name, wrap_rebind(recorder, getattr(tensor, name), name, torch.is_tensor)
    yield from storages.rows(recorder)
    yield torch.utils, "swap_tensors", wrap_swap(recorder, torch.utils.swap_tensors)
    # values that go to Python
    for name in ("item", "tolist", "numpy", "__array__", "__dlpack__", "__float__", "__int__"):
        yield tensor, name, wrap_export(recorder, wrap_relay(getattr(tensor, name)), name)
    yield tensor, "data_ptr", wrap_address(recorder, base.data_ptr, "data_ptr")
    for name in ("from_numpy", "as_tensor"):
        yield torch, name, wrap_entrance(recorder, wrap_relay(getattr(torch, name)))
    # what takes gradients
    requires = base.requires_grad
    yield (
        tensor,
        "requires_grad",
        property(requires.__get__, _wrap_requires_grad(recorder, wrap_relay(requires.__set__))),
    )
    yield tensor, "requires_grad_", _wrap_requires_grad_(recorder, wrap_relay(base.requires_grad_))
    yield tensor, "retain_grad", _wrap_retain_grad(recorder, wrap_relay(tensor.retain_grad))
    parameter = torch.nn.Parameter
    yield parameter, "__new__", staticmethod(_wrap_new(recorder, parameter.__new__))
    yield parameter, "__deepcopy__", _wrap_copy(recorder, parameter.__deepcopy__)
    # backward
    yield torch.autograd, "backward", _backward(recorder, torch.autograd.backward)
    yield torch.autograd, "grad", _grad(recorder, torch.autograd.grad)
    yield tensor, "register_hook", wrap_hook(recorder, tensor.register_hook)
    gradient = base.grad
    reading = wrap_grad_read(recorder, wrap_relay(gradient.__get__))
    yield (
        tensor,
        "grad",
        property(reading, wrap_grad_write(recorder, wrap_relay(gradient.__set__)), gradient.__delete__),
    )
    # modes
    modes = torch.autograd.grad_mode
    for guard, enabled in ((modes.no_grad, False), (modes.enable_grad, True), (modes.inference_mode, False)):
        yield (
            guard,
            "__enter__",
            wrap_enter(recorder, guard.__enter__, enabled, _enable, partial(_guard_call, recorder)),
        )
        yield guard, "__exit__", wrap_exit(recorder, guard.__exit__)
    function = torch.autograd.Function
    apply = wrap_apply(recorder, vars(function)["apply"].__func__, _tensors_without_gradient, _kind_of)
    yield function, "apply", classmethod(apply)
    yield modes.set_grad_enabled, "__init__", wrap_switch(recorder, modes.set_grad_enabled.__init__)
    yield modes.set_grad_enabled, "__exit__", wrap_exit(recorder, modes.set_grad_enabled.__exit__)
    # what consists of several operators
    yield from _dropout_rows(recorder)
    # transforms of functions: inside, tensors stand for others, and have neither elements nor nodes to tell of
    for module, name, differentiates in _TRANSFORMS:
        yield module, name, _wrap_transform(recorder, getattr(module, name), differentiates)
    for owner, name in ((torch.jit, "trace"), (torch.jit, "trace_module"), (torch.jit, "script")):
        yield owner, name, _whole(recorder, getattr(owner, name))
    yield torch.export, "export", _whole(recorder, torch.export.export)
    yield parametrize, "cached", _cache_for(recorder, parametrize.cached)
    # optimizers
    optimizer = torch.optim.Optimizer
    for name in ("__init__", "add_param_group"):
        yield optimizer, name, wrap_optimizer(recorder, getattr(optimizer, name), _optimizer_parameters)
    yield optimizer, "zero_grad", wrap_clear(recorder, optimizer.zero_grad, _optimizer_parameters, "zero_grad")
    yield from _list_schedule_names(recorder, put)
    yield (
        torch.nn.Module,
        "__setattr__",
        wrap_assign(recorder, torch.nn.Module.__setattr__, "_modules", _paths, {"requires_grad": False}),
    )
    for name in ("train", "eval"):
        yield torch.nn.Module, name, wrap_mode(recorder, getattr(torch.nn.Module, name), _module_parameters)
    parallel = torch.nn.parallel.DistributedDataParallel
    yield parallel, "__init__", wrap_parallel(recorder, parallel.__init__, _parameters_awaited)
    yield torch.nn.Module, "zero_grad", wrap_clear(recorder, torch.nn.Module.zero_grad, _module_parameters, "zero_grad")
    yield from _scaler_rows(recorder)


def _list_schedule_names(recorder: TorchRecorder, put: Put) -> Iterator[Row]:
    """Yield the rows for schedules of learning rates, and for loaders of data."""
    base = torch.optim.lr_scheduler.LRScheduler
    classes = {base: None}
    classes.update({c: None for c in vars(torch.optim.lr_scheduler).values() if _is_schedule(c)})
    schedules = ScheduleRecorder(recorder, _optimizer_parameters, _rate, _base, _parts, put, lambda s: s.optimizer)
    yield from schedules.rows(classes)
    loader = torch.utils.data.DataLoader
    yield loader, "__iter__", report_data_passes(recorder, loader.__iter__)


def _is_schedule(value: Any) -> bool:
    """Return whether something is a class of schedules; older versions have one that is apart from the others."""
    is_class = isinstance(value, type)
    return is_class and (
        issubclass(value, torch.optim.lr_scheduler.LRScheduler) or value.__name__ == "ReduceLROnPlateau"
    )


def _parts(schedule: Any) -> list[Any]:
    return list(getattr(schedule, "_schedulers", ()))


def _guard_call(recorder: TorchRecorder, guard: Any) -> Enclosed | None:
    """The call that switches recording off by itself: a mode for inference, or a checkpoint without inputs."""
    if isinstance(guard, torch.inference_mode):
        return "inference_mode", "inference_mode", ()
    return recorder.enclosed if recorder.enclosed is not None and recorder.enclosed[0] == "checkpoint" else None


def _tensors_without_gradient(args: Sequence[Any], named: Mapping[str, Any]) -> list[Any] | None:
    """The tensors that a function takes; None where one needs a gradient, or recording is switched off anyway."""
    tensors = [t for t in (*args, *named.values()) if isinstance(t, torch.Tensor)]
    return None if not torch.is_grad_enabled() or any(t.requires_grad for t in tensors) else tensors


def _kind_of(function: Any) -> tuple[str, str]:
    """Return the user's name for a function: the name of a checkpoint is that of what makes it."""
    if function.__module__ == "torch.utils.checkpoint":
        return "checkpoint", "checkpoint"
    return "Function", function.__name__


def _scaler_rows(recorder: TorchRecorder) -> Iterator[Row]:
    """Yield the rows for functions that multiply losses, divide gradients, or clip gradients in between where
    that is wrong.
    """
    scaler = torch.amp.GradScaler
    yield scaler, "scale", wrap_scale(recorder, scaler.scale, torch.is_tensor, scaler.get_scale)
    yield scaler, "unscale_", wrap_unscale(recorder, scaler.unscale_, _optimizer_parameters, _scale, _all_finite)
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        clip = wrap_clip(recorder, getattr(torch.nn.utils, name), torch.is_tensor)
        for owner in (torch.nn.utils, torch.nn.utils.clip_grad):
            yield owner, name, clip


def _scale(scaler: Any) -> float | None:
    return float(scaler.get_scale()) if scaler.is_enabled() else None


def _all_finite(scaler: Any, optimizer: Any) -> bool:
    found = scaler._per_optimizer_states[identity(optimizer)]["found_inf_per_device"]
    return not any(float(flag) for flag in found.values())


_DROPOUTS = tuple(f"{kind}dropout{end}" for kind in ("", "alpha_", "feature_", "feature_alpha_") for end in ("", "_"))


def _dropout_rows(recorder: TorchRecorder) -> Iterator[Row]:
    for owner, name in product((torch, torch._VF), _DROPOUTS):
        yield owner, name, _wrap_dropout(recorder, getattr(owner, name))


def _wrap_dropout(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose operators are recorded as those of a dropout."""

    @functools.wraps(original)
    def dropout(*args: Any, **named: Any) -> Any:
        before, recorder.drops = recorder.drops, True
        try:
            return original(*args, **named)
        finally:
            recorder.drops = before

    return dropout


def _wrap_requires_grad(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., None]:
    def requires(t: Any, takes: bool) -> None:
        recorder.flush()
        if recorder.quiet or not recorder.is_told(t):
            original(t, takes)
            return
        site = recorder.site()
        recorder.number(t, site)
        original(t, takes or recorder.spares(site))
        recorder.tell_requires(t, "requires_grad", site)

    return requires


def _wrap_requires_grad_(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def requires(t: Any, takes: bool = True) -> Any:
        if recorder.quiet or not recorder.is_told(t):
            return original(t, takes)
        recorder.flush()
        site = recorder.site()
        recorder.number(t, site)
        original(t, takes or recorder.spares(site))
        recorder.tell_requires(t, "requires_grad_", site)
        return t

    return requires


def _wrap_retain_grad(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that also records that a result keeps its gradient."""

    @functools.wraps(original)
    def retain_grad(t: Any) -> None:
        original(t)
        if not recorder.quiet and recorder.is_told(t) and not t.is_leaf:
            recorder.flush()
            site = recorder.site()
            recorder.tell_retained(t, site)

    return retain_grad


def _wrap_new(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def new(cls: type, data: Any = None, requires_grad: bool = True) -> Any:
        recorder.flush()
        with recorder.unheard():
            made = original(cls, data, requires_grad)
        if not recorder.quiet and recorder.is_told(made):
            recorder.number(made, parameter=True)
        return made

    return new


def _wrap_copy(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """A copied parameter is one of its own: no operator of the program reads the other."""

    @functools.wraps(original)
    def copy(parameter: Any, memo: Any) -> Any:
        if recorder.quiet or identity(parameter) in memo:
            return original(parameter, memo)
        recorder.flush()
        with recorder.unheard():
            made = original(parameter, memo)
        recorder.number(made, parameter=True)
        recorder.tell_copied(parameter, made)
        return made

    return copy


class _KeptValues(dict[Any, Any]):
    """Results of parametrizations, which tell when they are handed out again."""

    def __init__(self, recorder: TorchRecorder) -> None:
        super().__init__()
        self._recorder = recorder

    def get(self, key: Any, default: Any = None) -> Any:
        """Return what is kept, or *default*."""
        kept = super().get(key, default)
        if isinstance(kept, torch.Tensor) and not self._recorder.quiet:
            self._recorder.flush()
            self._recorder.tell_reused(kept, "parametrize.cached()")
        return kept


def _cache_for(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @contextmanager
    @functools.wraps(original)
    def cache() -> Iterator[None]:
        with original():
            if not isinstance(parametrize._cache, _KeptValues):
                parametrize._cache = _KeptValues(recorder)
            yield

    return cache


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
        tensors, grad_tensors, inputs = map(_read_once, (tensors, grad_tensors, inputs))

        def run() -> None:
            original(tensors, grad_tensors, retain_graph, create_graph, grad_variables, inputs)

        if recorder.quiet:
            recorder.nest()
            run()
            return
        roots = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        seeds = [grad_tensors] if grad_tensors is None or isinstance(grad_tensors, torch.Tensor) else list(grad_tensors)
        seeds = seeds if len(seeds) == len(roots) else [None] * len(roots)
        retains = bool(create_graph if retain_graph is None else retain_graph)
        recorder.run_backward(roots, seeds, "backward", retains, create_graph, run, _tensors_in(inputs))

    return backward


def _read_once(values: Any) -> Any:
    """Return the values of an iterator, such as ``net.parameters()``: torch and the recorder both read it;
    others as they are.
    """
    return tuple(values) if isinstance(values, Iterator) else values


def _tensors_in(inputs: Any) -> list[Any] | None:
    """The tensors whose gradients are asked for; None for all leaves."""
    if inputs is None:
        return None
    entries = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
    tensors = [t for t in entries if isinstance(t, torch.Tensor)]
    return tensors if len(tensors) == len(entries) else None  # an edge of the graph may be asked for, too


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
        outputs, inputs, grad_outputs = map(_read_once, (outputs, inputs, grad_outputs))

        def run() -> Any:
            return original(outputs, inputs, grad_outputs, retain_graph, create_graph, *args, **named)

        if recorder.quiet:
            return run()
        roots = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
        seeds = [grad_outputs] if isinstance(grad_outputs, torch.Tensor) else list(grad_outputs or [None] * len(roots))
        retains = bool(create_graph if retain_graph is None else retain_graph)
        return recorder.run_backward(roots, seeds, "grad", retains, create_graph, run, _tensors_in(inputs))

    return grad


def _wrap_transform(recorder: TorchRecorder, original: Callable[..., Any], differentiates: bool) -> Callable[..., Any]:
    @contextmanager
    @functools.wraps(original)
    def transform(*args: Any) -> Iterator[Any]:
        recorder.flush()
        if differentiates:
            note_transformed("torch.func")
        with recorder.unheard(), original(*args) as level:
            yield level

    return transform


_TRANSFORMS = (
    (torch._functorch.vmap, "vmap_increment_nesting", False),
    (torch._functorch.eager_transforms, "grad_increment_nesting", True),
    (torch._functorch.eager_transforms, "jvp_increment_nesting", False),
)
"""Guards that ``torch.func`` enters for the time of a transformed function; and whether it goes backward inside."""


def _whole(recorder: TorchRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a wrapper that shows code as it is to functions that read it and run it in another form; the
    recorder hears nothing of that.
    """

    @functools.wraps(original)
    def run(*args: Any, **named: Any) -> Any:
        recorder.flush()
        with recorder.unheard(), recorder.aside(), recorder.names.lift():
            return original(*args, **named)

    return run


def _parameters_awaited(parallel: Any, module: Any) -> list[Any]:
    """The parameters of which each must have a gradient in every pass."""
    if parallel.find_unused_parameters or parallel.static_graph:
        return []
    return [p for p in module.parameters() if p.requires_grad]


def _optimizer_parameters(optimizer: Any) -> list[Any]:
    return [p for group in optimizer.param_groups for p in group["params"]]


def _rate(optimizer: Any, of: str = "lr") -> float | None:
    """The largest rate of its groups."""
    rates = [group.get(of) for group in optimizer.param_groups]
    return max((float(rate) for rate in rates if isinstance(rate, (int, float))), default=None)


def _base(schedule: Any, optimizer: Any) -> float | None:
    """The largest rate that its groups were made with: schedules note them."""
    return _rate(optimizer, "initial_lr")


def _enable() -> None:
    torch._C._set_grad_enabled(True)


def _module_parameters(module: Any) -> list[Any]:
    return list(module.parameters())


def _paths(value: Any) -> Iterable[tuple[str, Any]]:
    """The parameters in what an attribute holds, by their paths from it."""
    if isinstance(value, torch.nn.Module):
        return value.named_parameters()  # type: ignore[no-any-return]
    return [("", value)] if isinstance(value, torch.nn.Parameter) else []


def _steps(recorder: TorchRecorder) -> tuple[Callable[..., Any], Callable[..., None]]:
    """Return the functions to call before and after each step of an optimizer."""
    steps = StepRecorder(recorder, _optimizer_parameters, _rate)

    def begin(optimizer: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        steps.sites.clear()
        if callable(named.get("closure")):
            return args, {**named, "closure": steps.wrap_closure(optimizer, named["closure"])}
        if len(args) > 1 and callable(args[1]):
            return (args[0], steps.wrap_closure(optimizer, args[1]), *args[2:]), named
        steps.began(optimizer)
        return None

    def end(optimizer: Any, *rest: Any) -> None:
        steps.note_end(optimizer)

    return begin, end
