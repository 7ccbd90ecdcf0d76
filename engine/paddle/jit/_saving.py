"""``paddle.jit.save``: a layer or a function as programs in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.prune import prune
from gradtool.engine.ir.variable import Variable
from gradtool.paddle.nn.layer import Layer
from gradtool.paddle.static._input_spec import InputSpec

from ._files import FORWARD, Method, prefix_of, write
from ._static_function import StaticFunction
from ._translated import TranslatedLayer

_OPTIONS = (
    *("output_spec", "with_hook", "combine_params", "clip_extra", "skip_forward", "input_names_after_prune"),
    *("skip_prune_program", "separate_parameters"),
)


def save(layer: Any, path: str, input_spec: Sequence[Any] | None = None, **configs: Any) -> None:
    """Write what a layer or a function computes, in test form, and the values of its parameters: all files or none.

    Of a layer, ``forward`` and every method that ``to_static`` marks are written, each as two files,
    ``path.pdmodel`` and ``path.pdiparams`` (of another method, ``path.method.pdmodel``), which :func:`load` and
    ``static.load_inference_model`` read. The format is gradtool's own.

    Args:
        path: what the files' names begin with; folders are made when missing.
        input_spec: what describes the tensors that it takes; that of ``to_static``, or those of the last call, when
            None.
        configs: ``output_spec`` keeps those of the outputs that it names; ``combine_params`` writes the values of all
            methods to one file; ``skip_forward`` leaves ``forward`` out.

    Raises:
        ArgumentTypeError: no Layer or function (a TypeError).
        UsageError: nobody has said what tensors it takes; *path* names no file; an unknown setting (a ValueError).
        ConversionError: it holds what no program can hold; says which line.

    >>> import tempfile
    >>> from gradtool import paddle
    >>> layer = paddle.nn.Linear(3, 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(layer, f"{folder}/linear", input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
    ...     same = paddle.jit.load(f"{folder}/linear")
    >>> x = paddle.ones([4, 3])
    >>> bool((same(x) == layer(x)).all())
    True
    """
    for name in configs:
        if name not in _OPTIONS:
            raise UsageError(f"The additional config ({name}) of `paddle.jit.save` is not supported.")
    if configs.get("input_names_after_prune") is not None:
        raise UnsupportedError("jit.save: input_names_after_prune is not in gradtool.", hint="give output_spec")
    if not isinstance(layer, Layer) and (not callable(layer) or isinstance(layer, type)):
        raise ArgumentTypeError(
            f"The input of paddle.jit.save should be 'Layer' or 'Function', but received input type is {type(layer)}."
        )
    prefix = prefix_of(path, "paddle.jit.save")
    if isinstance(layer, TranslatedLayer):
        methods = layer.methods()
    else:
        methods = _methods(layer, input_spec, bool(configs.get("skip_forward", False)))
    wanted = configs.get("output_spec")
    if wanted is not None:
        methods = {name: _with_outputs(method, wanted) for name, method in methods.items()}
    write(prefix, methods, bool(configs.get("combine_params", False)))


def _methods(layer: Any, input_spec: Any, skip_forward: bool) -> dict[str, Method]:
    if not isinstance(layer, Layer):
        function = layer if isinstance(layer, StaticFunction) else StaticFunction(layer)
        return {FORWARD: _method(function, input_spec)}
    others = {}
    for name in dir(type(layer)):
        if name != FORWARD and isinstance(getattr(type(layer), name, None), StaticFunction):
            others[name] = getattr(layer, name)
    if others and input_spec is not None:
        raise UsageError(
            "If there are static functions other than 'forward' that need to be saved, the input 'input_spec' should "
            f"be None, but received the type of 'input_spec' is {type(input_spec)}.",
            hint="give each of them its own: @paddle.jit.to_static(input_spec=[…])",
        )
    methods = {}
    if not skip_forward:
        forward = layer.forward
        if not isinstance(forward, StaticFunction):
            forward = StaticFunction(type(layer).forward, None, layer)
        methods[FORWARD] = _method(forward, input_spec)
    methods.update((name, _method(function, None)) for name, function in others.items())
    return methods


def _method(function: StaticFunction, input_spec: Any) -> Method:
    concrete = function.forget().concrete_program_specify_input_spec(input_spec)
    if concrete.startup_program.global_block().ops:
        raise UnsupportedError(
            "jit.save: the function makes parameters while it computes, and a program has no values for them.",
            hint="make layers and parameters in __init__, and use them in forward",
        )
    if not concrete.outputs:
        raise UsageError("jit.save: the function returns no tensor, so a program of it would compute nothing.")
    program: Program = concrete.main_program.clone(for_test=True)
    block = program.global_block()
    read = {v.name for inner in program.blocks for op in inner.ops for v in op.input_variables()}
    read |= {v.name for inner in program.blocks for op in inner.ops for v in op.output_variables()}
    values = {name: tensor for name, tensor in concrete.tensors.items() if name in read}
    for name in [n for n, v in block.vars.items() if v.persistable and n not in values]:
        del block.vars[name]
    feeds = [block.vars[v.name] for v in concrete.feeds]
    return Method(program, feeds, [block.vars[v.name] for v in concrete.outputs], values)


def _with_outputs(method: Method, wanted: Any) -> Method:
    """*method* with those of its outputs that *wanted* names, in that order, and what they need."""
    if not isinstance(wanted, (list, tuple)):
        raise ArgumentTypeError(
            f"The config `output_spec` should be a list of Variables or InputSpec, but it is {type(wanted).__name__}."
        )
    by_name = {v.name: v for v in method.fetches}
    names = []
    for entry in wanted:
        name = entry.name if isinstance(entry, (Variable, InputSpec)) else entry
        if name not in by_name:
            raise UsageError(
                f"jit.save: '{name}' in output_spec is no output; the outputs are: {', '.join(by_name)}.",
            )
        names.append(name)
    needed = _needed_feeds(method, names)
    program = prune(method.program, needed, names)
    block = program.global_block()
    values: Mapping[str, Any] = {n: v for n, v in method.values.items() if n in block.vars}
    return Method(program, [block.vars[n] for n in needed], [block.vars[n] for n in names], values)


def _needed_feeds(method: Method, fetches: list[str]) -> list[str]:
    """Return the tensors that the method takes these outputs need."""
    wanted = set(fetches)
    for op in reversed(method.program.global_block().ops):
        if any(v.name in wanted for v in op.output_variables()):
            wanted.update(v.name for v in op.input_variables())
    return [v.name for v in method.feeds if v.name in wanted]
