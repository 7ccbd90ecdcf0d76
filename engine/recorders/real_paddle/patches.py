"""Names of Paddle that tell a recorder what no operator tells, while a program runs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import paddle
from paddle.autograd import py_layer
from paddle.base import core
from paddle.base.dygraph import base as modes
from paddle.base.framework import EagerParamBase
from paddle.base.layer_helper_base import LayerHelperBase
from paddle.jit.dy2static import program_translator

from ...core.identity import identity
from ..recorded.patched_names import PatchedNames, Row
from ..recorded.recording_wrappers import wrap_enter, wrap_exit, wrap_switch
from ..recorded.schedules import Put, ScheduleRecorder, report_data_passes
from ..recorded.tensor_wrappers import (
    wrap_address,
    wrap_detach,
    wrap_entrance,
    wrap_export,
    wrap_grad_read,
    wrap_grad_write,
    wrap_hook,
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
from . import calls
from .recorder import PaddleRecorder, Tensor, tensors


@contextmanager
def patch_paddle(recorder: PaddleRecorder) -> Iterator[None]:
    """Have these names tell *recorder* inside."""
    with PatchedNames(()) as late, PatchedNames(_rows(recorder, late.put)), PatchedNames(calls.rows(recorder)):
        yield


_FREEZING: Final = {"stop_gradient": True, "trainable": False, "requires_grad": False}
"""Attributes of parameters that a layer has not."""


def _rows(recorder: PaddleRecorder, put: Put) -> Iterator[Row]:
    """Yield the rows of names to replace: the owner, the name, and its replacement.

    Args:
        put: replaces names of what the program brings along.
    """
    # values without a way back
    yield Tensor, "detach", wrap_detach(recorder, Tensor.detach, "detach")
    yield Tensor, "detach_", wrap_detach(recorder, Tensor.detach_, "detach", in_place=True)
    data = Tensor.data
    yield Tensor, "data", property(wrap_detach(recorder, data.__get__, "data"), data.__set__)
    # values that go to Python
    for name in ("item", "tolist", "numpy", "__array__", "__float__", "__int__"):
        yield Tensor, name, wrap_export(recorder, getattr(Tensor, name), name)
    yield Tensor, "data_ptr", wrap_address(recorder, Tensor.data_ptr, "data_ptr")
    entering_ = wrap_entrance(recorder, paddle.to_tensor)
    for module in (paddle, paddle.tensor, paddle.tensor.creation):
        yield module, "to_tensor", entering_
    # what takes gradients
    stops = Tensor.stop_gradient
    yield Tensor, "stop_gradient", property(stops.__get__, _wrap_stop_gradient(recorder, stops.__set__))
    yield LayerHelperBase, "create_parameter", _wrap_new(recorder, LayerHelperBase.create_parameter)
    for cls in (Tensor, EagerParamBase):
        yield cls, "__deepcopy__", _wrap_copy(recorder, cls.__deepcopy__)
    # backward
    yield core.eager, "run_backward", _backward(recorder, core.eager.run_backward)
    yield core.eager, "run_partial_grad", _grad(recorder, core.eager.run_partial_grad)
    yield Tensor, "register_hook", wrap_hook(recorder, Tensor.register_hook)
    gradient = Tensor.grad
    yield (
        Tensor,
        "grad",
        property(wrap_grad_read(recorder, gradient.__get__), wrap_grad_write(recorder, gradient.__set__)),
    )
    yield Tensor, "clear_gradient", wrap_clear(recorder, Tensor.clear_gradient, lambda t: [t], "clear_gradient")
    yield py_layer.PyLayer, "apply", classmethod(_wrap_apply(recorder))
    yield py_layer.PyLayerBackward, "backward", _wrap_backward(recorder, py_layer.PyLayerBackward.backward)
    # modes
    for guard, enabled in ((modes.no_grad_, False), (modes.enable_grad, True)):
        yield guard, "__enter__", wrap_enter(recorder, guard.__enter__, enabled, _enable)
        yield guard, "__exit__", wrap_exit(recorder, guard.__exit__)
    yield modes.set_grad_enabled, "__init__", wrap_switch(recorder, modes.set_grad_enabled.__init__)
    yield modes.set_grad_enabled, "__exit__", wrap_exit(recorder, modes.set_grad_enabled.__exit__)
    # functions that Paddle would run as one operator, which tells nothing of what is in it
    for cls in _list_subclasses(program_translator.StaticFunction):
        if "_perform_call" in vars(cls):
            yield cls, "_perform_call", _line_by_line
    # optimizers and layers
    optimizer = paddle.optimizer.Optimizer
    schedules = ScheduleRecorder(
        recorder, _optimizer_parameters, _rate, lambda own, _: own.base_lr, lambda own: (), put
    )
    yield from schedules.rows(_list_subclasses(paddle.optimizer.lr.LRScheduler))
    made = wrap_optimizer(recorder, optimizer.__init__, _optimizer_parameters)
    yield optimizer, "__init__", _wrap_binding(schedules, made)
    yield optimizer, "set_lr_scheduler", _wrap_binding(schedules, optimizer.set_lr_scheduler)
    yield paddle.io.DataLoader, "__iter__", report_data_passes(recorder, paddle.io.DataLoader.__iter__)
    yield optimizer, "clear_grad", wrap_clear(recorder, optimizer.clear_grad, _optimizer_parameters, "clear_grad")
    yield optimizer, "clear_gradients", wrap_clear(recorder, optimizer.clear_grad, _optimizer_parameters, "clear_grad")
    steps = StepRecorder(recorder, _optimizer_parameters, _rate)
    for cls in _list_subclasses(optimizer):
        for name in ("step", "minimize"):
            if name in vars(cls):
                yield cls, name, _wrap_step(recorder, steps, vars(cls)[name])
    recurrent = paddle.nn.layer.rnn.RNNBase
    yield recurrent, "flatten_parameters", _unheard(recorder, recurrent.flatten_parameters)
    yield paddle.DataParallel, "__init__", wrap_parallel(recorder, paddle.DataParallel.__init__, _parameters_awaited)
    layer = paddle.nn.Layer
    for name in ("train", "eval"):
        yield layer, name, wrap_mode(recorder, getattr(layer, name), lambda owner: list(owner.parameters()))
    yield layer, "__setattr__", wrap_assign(recorder, layer.__setattr__, "_sub_layers", _paths, _FREEZING)
    yield from _scaler_rows(recorder)
    yield (
        layer,
        "clear_gradients",
        wrap_clear(recorder, layer.clear_gradients, lambda owner: list(owner.parameters()), "clear_grad"),
    )


def _parameters_awaited(parallel: Any, layers: Any) -> list[Any]:
    """The parameters of which each must have a gradient in every pass."""
    return [] if parallel.find_unused_parameters else [p for p in layers.parameters() if not p.stop_gradient]


def _scaler_rows(recorder: PaddleRecorder) -> Iterator[Row]:
    """Yield the rows for functions that multiply losses, divide gradients, or clip gradients in between where
    that is wrong.
    """
    scaler, clips = paddle.amp.AmpScaler, paddle.nn.utils
    yield scaler, "scale", wrap_scale(recorder, scaler.scale, _is_tensor, lambda own: float(own._scale.item()))
    yield scaler, "_unscale", wrap_unscale(recorder, scaler._unscale, _optimizer_parameters, _scale, _all_finite)
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        yield clips, name, wrap_clip(recorder, getattr(clips, name), _is_tensor)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def _scale(scaler: Any) -> float | None:
    return float(scaler._scale.item()) if scaler._enable else None


def _all_finite(scaler: Any, optimizer: Any) -> bool:
    return not bool(scaler._found_inf.item())


def _line_by_line(function: Any, *args: Any, **named: Any) -> Any:
    """Call what ``to_static`` decorates as the Python that it is."""
    return function._call_dygraph_function(*args, **named)


def _enable() -> None:
    core._set_has_grad(True)


def _list_subclasses(cls: type) -> list[type]:
    classes: dict[type, None] = {}
    todo = [cls]
    while todo:
        one = todo.pop()
        if one not in classes:
            classes[one] = None
            todo += one.__subclasses__()
    return list(classes)


def _wrap_stop_gradient(recorder: PaddleRecorder, original: Callable[..., Any]) -> Callable[..., None]:
    def stop(t: Any, stops: bool) -> None:
        if recorder.quiet:
            original(t, stops)
            return
        recorder.flush()
        site = recorder.site()
        recorder.number(t, site)
        original(t, stops and not recorder.spares(site))
        recorder.tell_requires(t, "stop_gradient", site)

    return stop


def _unheard(recorder: PaddleRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a wrapper of what Paddle does for itself: the recorder hears nothing of it."""

    @functools.wraps(original)
    def call(*args: Any, **named: Any) -> Any:
        recorder.flush()
        with recorder.unheard():
            return original(*args, **named)

    return call


def _wrap_new(recorder: PaddleRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """A parameter or a copy: what its initializer computes is not the program's."""

    @functools.wraps(original)
    def create(*args: Any, **named: Any) -> Any:
        recorder.flush()
        with recorder.unheard():
            made = original(*args, **named)
        if not recorder.quiet and isinstance(made, Tensor):
            recorder.number(made)
        return made

    return create


def _wrap_copy(recorder: PaddleRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    bearing = _wrap_new(recorder, original)

    @functools.wraps(original)
    def copy(t: Any, memo: Any) -> Any:
        known = identity(t) in memo
        made = bearing(t, memo)
        if not (known or recorder.quiet):
            recorder.tell_copied(t, made)
        return made

    return copy


def _backward(recorder: PaddleRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def run_backward(outputs: Any, seeds: Any, retain: bool = False, *rest: Any) -> None:
        def run() -> None:
            original(outputs, seeds, retain, *rest)

        if recorder.quiet:
            recorder.nest()
            run()
            return
        roots = list(outputs)
        given = list(seeds or ())
        given = given if len(given) == len(roots) else [None] * len(roots)
        recorder.run_backward(roots, given, "backward", bool(retain), False, run)

    return run_backward


def _grad(recorder: PaddleRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def run_partial_grad(
        outputs: Any, inputs: Any, seeds: Any, retain: bool = False, create: bool = False, *rest: Any
    ) -> Any:
        def run() -> Any:
            return original(outputs, inputs, seeds, retain, create, *rest)

        if recorder.quiet:
            return run()
        roots = list(outputs)
        given = list(seeds or ())
        given = given if len(given) == len(roots) else [None] * len(roots)
        return recorder.run_backward(roots, given, "grad", bool(retain), bool(create), run)

    return run_partial_grad


def _wrap_apply(recorder: PaddleRecorder) -> Callable[..., Any]:
    """``PyLayer.apply``: the class of the node that it leaves, and the context that its backward gets."""

    def apply(cls: Any, *args: Any, **named: Any) -> Any:
        original = core.eager.PyLayer.__dict__["apply"].__get__(None, cls)
        if recorder.quiet or not paddle.in_dynamic_mode():
            return original(*args, **named)
        recorder.flush()
        for t in tensors((*args, *named.values())):
            recorder.number(t)
        contexts: list[Any] = []
        forward = cls.forward
        own = cls.__dict__.get("forward")

        def note_context(context: Any, *inner: Any, **more: Any) -> Any:
            contexts.append(context)
            return forward(context, *inner, **more)

        cls.forward = staticmethod(note_context)
        try:
            result = original(*args, **named)
        finally:
            if own is None:
                del cls.forward
            else:
                cls.forward = own
        with recorder.unheard():
            given = tensors(result if isinstance(result, (list, tuple)) else (result,))
        recorder.note_custom_node(cls, contexts, given)
        return result

    return apply


def _wrap_backward(recorder: PaddleRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """The backward of a ``PyLayer``, which Paddle calls no hook of."""

    @functools.wraps(original)
    def backward(context: Any, *arriving: Any) -> Any:
        result = original(context, *arriving)
        recorder.note_custom_pull(context, arriving, result)
        return result

    return backward


def _optimizer_parameters(optimizer: Any) -> list[Any]:
    listed = getattr(optimizer, "_parameter_list", None) or []
    if listed and isinstance(listed[0], dict):
        listed = [p for group in optimizer._param_groups for p in group["params"]]
    return list(listed)


def _rate(optimizer: Any) -> float | None:
    try:
        return float(optimizer.get_lr())
    except (TypeError, RuntimeError):  # a schedule of its own
        return None


def _wrap_binding(schedules: ScheduleRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a wrapper of what gives an optimizer its learning rate: it tells of a schedule."""

    @functools.wraps(original)
    def bind(optimizer: Any, *args: Any, **named: Any) -> Any:
        result = original(optimizer, *args, **named)
        schedule = getattr(optimizer, "_learning_rate", None)
        if isinstance(schedule, paddle.optimizer.lr.LRScheduler):
            schedules.bind(schedule, optimizer)
        return result

    return bind


def _wrap_step(recorder: PaddleRecorder, steps: StepRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def step(optimizer: Any, *args: Any, **named: Any) -> Any:
        if recorder.quiet or not paddle.in_dynamic_mode():
            return original(optimizer, *args, **named)
        steps.sites.clear()
        if args and callable(args[0]):  # it asks for the loss itself, several times
            return original(optimizer, steps.wrap_closure(optimizer, args[0]), *args[1:], **named)
        steps.began(optimizer)
        try:
            return original(optimizer, *args, **named)
        finally:
            steps.note_end(optimizer)

    return step


def _paths(value: Any) -> Iterable[tuple[str, Any]]:
    """The parameters in what an attribute holds, by their paths from it."""
    if isinstance(value, paddle.nn.Layer):
        return value.named_parameters()  # type: ignore[no-any-return]
    return [("", value)] if isinstance(value, EagerParamBase) else []
