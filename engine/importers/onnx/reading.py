"""ONNX models from bytes: parsed, checked, functions inlined; then built as a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ...core import state
from ...core.collector import pause_gc
from ...core.errors import FileFormatError, UnsupportedError
from ...core.spec import TensorSpec
from ...ir.variable import Variable
from .. import UNTOLD, Imported, UnknownSizes
from .graph import EXPECTED, OnnxBuilder
from .open_sizes import OpenSizes
from .operators import rows
from .tensors import type_name

OLDEST: Final = 7
NEWEST: Final = 28
_DEEPEST: Final = 32
"""Graphs that stand inside each other."""
_DOMAINS: Final = ("", "ai.onnx")


def parse(data: bytes, file: str) -> Any:
    """The message in *data*.

    Raises:
        FileFormatError: it is no ONNX model.
        UnsupportedError: the package onnx is not installed.
    """
    try:
        import onnx
    except ImportError:
        raise UnsupportedError(
            f"{file} is an ONNX model, and the package onnx is not installed.", hint="pip install 'gradtool[onnx]'"
        ) from None
    try:
        model = onnx.ModelProto.FromString(data)
    except Exception as error:
        raise FileFormatError(file, EXPECTED, f"it is none, or damaged: {error}") from None
    if not model.HasField("graph") or not model.opset_import:
        raise FileFormatError(file, EXPECTED, "it holds no graph, or says no version of its operators")
    return model


def read(data: bytes, file: str, folder: Path, told: UnknownSizes = UNTOLD) -> Imported:
    """The program that *data*, an ONNX model, describes; values of its parameters go to the current scope.

    Args:
        file: its name, for messages.
        folder: where it lies; values in other files lie there too.
        told: sizes that the file leaves open.

    Raises:
        FileFormatError: it is none, or one that cannot exist (a ValueError).
        CommandError: a size is told that it does not leave open.
        UnsupportedError: the package onnx is not installed.
    """
    model = parse(data, file)
    with pause_gc():
        opset = _check(model, file, folder)
        return _most_complete(model, file, folder, opset, told)


def _most_complete(model: Any, file: str, folder: Path, opset: int, told: UnknownSizes) -> Imported:
    """The program with those sizes, of all that are tried, that leave fewest operators lacking."""
    sizes = OpenSizes(model)
    best: tuple[int, OnnxBuilder, list[Variable]] | None = None
    fault: FileFormatError | None = None
    begun = 0
    for number, attempt in enumerate(sizes.attempts(told)):
        sizes.set(attempt)
        try:
            builder, results = _build(model, file, folder, opset)
        except FileFormatError as error:
            fault = fault or error
            continue
        lacking = len(builder.absent.reasons)
        begun = begun if number else lacking
        if best is None or lacking < best[0]:
            best = (lacking, builder, results)
            if number and attempt != told.named:
                builder.note(_describe_sizes(attempt, told, begun - lacking))
        if not lacking or not sizes.first:
            break
    if best is None:
        assert fault is not None, "there is a program or a reason why not"
        raise fault
    _, builder, results = best
    return Imported(builder.program, tuple(v.name for v in results), tuple(builder.notes))


def _describe_sizes(sizes: Mapping[str, int], told: UnknownSizes, count: int) -> str:
    """Return the message about sizes that the file leaves open and operators need."""
    text = ", ".join(f"{name} = {size}" for name, size in sizes.items() if name not in told.named)
    who = f"{count} of its operators {'needs' if count == 1 else 'need'} them" if count else "it cannot be read without"
    name, size = next((n, s) for n, s in sizes.items() if n not in told.named)
    return f"sizes that the file leaves open are taken as {text}, since {who}; --arg {name}={2 * size} gives others"


def _build(model: Any, file: str, folder: Path, opset: int) -> tuple[OnnxBuilder, list[Variable]]:
    """The program of a model that is sound, and what it computes."""
    builder = OnnxBuilder(file, folder)
    inlined = _inline_functions(model, file, opset)
    builder.inferred = _type_lookup(inlined)
    with state.static_mode():
        results = builder.read(inlined.graph, opset)
    return builder, results


def _check(model: Any, file: str, folder: Path) -> int:
    """The version of the operator set of a model that is sound."""
    came, hint = _fault(model)
    if came is None:
        came = _checkers_fault(model, folder / file)
    if came is not None:
        raise FileFormatError(file, EXPECTED, came, hint=hint)
    return _version(model)


def _version(model: Any) -> int:
    return next((int(o.version) for o in model.opset_import if o.domain in _DOMAINS), 0)


def _fault(model: Any) -> tuple[str | None, str | None]:
    """Return the fault of a model, and a hint; what a checker of single nodes does not see."""
    opset = _version(model)
    if not OLDEST <= opset <= NEWEST:
        return f"its operators are of version {opset}", f"gradtool reads versions {OLDEST} to {NEWEST}"
    if any(depth > _DEEPEST for _, depth in _graphs(model)):
        return f"more than {_DEEPEST} graphs inside each other", None
    if not all(isinstance(text, str) for graph, _ in _graphs(model) for text in _texts(graph)):
        return "a name that is no text", None
    if not all(value.name for value in (*model.graph.input, *model.graph.initializer)):
        return "an input or an initializer without a name", None
    names = [name for node in model.graph.node for name in node.output if name]
    if len(set(names)) < len(names):
        return f"{next(n for n, c in Counter(names).items() if c > 1)!r} is made twice", None
    return None, None


def _texts(graph: Any) -> Iterator[Any]:
    """Whatever is a text in a graph: protobuf gives bytes where it is none."""
    for value in (*graph.input, *graph.output, *graph.initializer):
        yield value.name
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, node.doc_string, *node.input, *node.output)
        yield from (text for prop in node.metadata_props for text in (prop.key, prop.value))
        yield from (a.name for a in node.attribute)


def _checkers_fault(model: Any, path: Path) -> str | None:
    """Return the fault that onnx finds in a model; it looks for values in other files beside *path*, else where it
    runs.
    """
    import onnx

    beside = any(proto.data_location for graph, _ in _graphs(model) for proto in graph.initializer)
    try:
        onnx.checker.check_model(str(path) if beside and path.is_file() else model, full_check=False)
    except onnx.checker.ValidationError as error:
        text = next(iter(str(error).strip().splitlines()), "it is not valid")
        return None if any(passed in text for passed in _PASSED) else f"onnx says of it: {text}"
    except Exception as error:
        return f"onnx cannot check it: {error}"
    return None


_PASSED: Final = (
    "No Op registered for",
    "No opset import for domain",
    "model with IR version",
    "Your model ir_version",
    "Field 'shape' of 'type'",
)
"""What is no reason to refuse a file: operators of other domains become stand-ins, shapes of outputs follow."""


def _graphs(model: Any) -> Iterator[tuple[Any, int]]:
    """Every graph of a model, and how deep it stands."""
    todo = [(model.graph, 1)]
    while todo:
        graph, depth = todo.pop()
        yield graph, depth
        for node in graph.node:
            for a in node.attribute:
                todo += [(inner, depth + 1) for inner in ([a.g] if a.HasField("g") else []) + list(a.graphs)]


def _inline_functions(model: Any, file: str, opset: int) -> Any:
    """*model* with its functions, and those of the standard that have no row, in the places of their calls."""
    from onnx import defs, inliner

    try:
        if model.functions:
            _expect_no_cycle(model, file)
            model = inliner.inline_local_functions(model, convert_version=True)
        kinds = {n.op_type for graph, _ in _graphs(model) for n in graph.node if n.domain in _DOMAINS}
        inline = []
        for kind in sorted(kinds):
            if rows.lookup(kind, opset) is not None or not defs.has(kind, opset, ""):
                continue
            schema: Any = defs.get_schema(kind, opset, "")
            if schema.has_function or schema.has_context_dependent_function:
                inline.append(("", kind))
    except FileFormatError:
        raise
    except Exception as error:
        raise FileFormatError(file, EXPECTED, f"its functions cannot be inlined: {error}") from None
    try:
        return (
            inliner.inline_selected_functions(_infer_types(model), inline, inline_schema_functions=True)
            if inline
            else model
        )
    except Exception:  # the function depends on types or values that nobody knows: its calls become stand-ins
        return model


def _infer_types(model: Any) -> Any:
    """*model* with the types of its values, by which functions of the standard are chosen."""
    import onnx

    try:
        return onnx.shape_inference.infer_shapes(model)
    except Exception:  # what cannot be inferred is not known
        return model


def _expect_no_cycle(model: Any, file: str) -> None:
    """Raise :class:`FileFormatError` for functions that call themselves, by whatever way."""
    calls = {(f.domain, f.name): {(n.domain, n.op_type) for n in f.node} for f in model.functions}
    waiting = {f: {c for c in called if c in calls} for f, called in calls.items()}
    while waiting:
        free = [f for f, called in waiting.items() if not called]
        if not free:
            raise FileFormatError(file, EXPECTED, "functions that call themselves")
        for f in free:
            del waiting[f]
        for called in waiting.values():
            called.difference_update(free)


def _type_lookup(model: Any) -> Callable[[str], TensorSpec | None]:
    """Return a look-up of onnx's types for the values of a model; used only for operators that gradtool
    does not have.
    """
    known: dict[str, TensorSpec] = {}
    asked = False

    def spec(name: str) -> TensorSpec | None:
        nonlocal asked
        if not asked:
            asked = True
            known.update(_specs(model))
        return known.get(name)

    return spec


def _specs(model: Any) -> dict[str, TensorSpec]:
    import onnx

    try:
        graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    except Exception:  # what cannot be inferred is not known
        graph = model.graph
    specs = {}
    for value in (*graph.value_info, *graph.output):
        tensor = value.type.tensor_type
        if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
            continue
        try:
            name = type_name(tensor.elem_type)
        except Exception:
            continue
        shape = [d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else -1 for d in tensor.shape.dim]
        specs[value.name] = TensorSpec(shape, name)
    return specs
