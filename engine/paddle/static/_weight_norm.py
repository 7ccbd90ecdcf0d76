"""``static.WeightNormParamAttr``: weights as a length times a direction (Salimans and Kingma 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import ModeError, UsageError
from gradtool.engine.ir import build, default
from gradtool.engine.ir.program import Block
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops import registry
from gradtool.paddle import _parameters
from gradtool.paddle._parameters import ParamAttr


class WeightNormParamAttr(ParamAttr):
    """Settings of a weight that is computed: ``g · v / ‖v‖`` of two parameters, called ``…_g`` and ``…_v``.

    Args:
        dim: the dimension that keeps a length for each of its places; one for the whole weight when None.
        name: what the names of the two begin with; generated when None.
        initializer: how *v* is filled; *g* begins as the length of that.
    """

    of_two = True

    def __init__(
        self,
        dim: int | None = None,
        name: str | None = None,
        initializer: Any = None,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        trainable: bool = True,
        do_model_average: bool = False,
        need_clip: bool = True,
    ) -> None:
        super().__init__(name, initializer, learning_rate, regularizer, trainable, do_model_average, need_clip)
        self.dim = dim


def weight(layer: str, settings: WeightNormParamAttr, shape: Sequence[int], dtype: Any, default_init: Any) -> Variable:
    """The weight, computed in the main program from two parameters that it gets.

    Raises:
        ModeError: in dynamic mode (a RuntimeError).
        UsageError: *shape* has no such dimension (a ValueError).
    """
    if not state.in_static_mode():
        raise ModeError(
            "WeightNormParamAttr is for layers of static programs, and dynamic mode is on.",
            hint="use paddle.nn.utils.weight_norm(layer)",
        )
    rank, dim = len(shape), settings.dim
    if dim is not None and not -rank <= dim < rank:
        raise UsageError(f"WeightNormParamAttr: dim is {dim}, but the weight has the shape {list(shape)}.")
    dim = None if dim is None else dim % rank
    name = settings.name or default.default_main_program().names(f"{layer}.w")
    lengths = [n if i == dim else 1 for i, n in enumerate(shape)]
    g = _part(layer, settings, f"{name}_g", lengths, dtype, None)
    v = _part(layer, settings, f"{name}_v", shape, dtype, default_init)
    startup, main = default.default_startup_program().global_block(), default.current_block()
    start = _Norms(startup, layer)
    start.length(startup.vars[v.name], dim, lengths, startup.vars[g.name])
    norm = _Norms(main, layer).length(v, dim, lengths, None)
    names = main.program.names
    scale = _emit(main, "elementwise_div", (g, norm), {"axis": -1}, [names("elementwise_div")])
    if dim is not None:
        reshape = names("reshape2")
        scale = _reshaped(main, scale, [shape[dim]], names(f"{reshape}.tmp"), names(f"{reshape}.tmp"))
    axis = -1 if dim is None else dim
    return _emit(main, "elementwise_mul", (v, scale), {"axis": axis}, [names("elementwise_mul")])  # type: ignore[no-any-return]


def _part(
    layer: str, settings: WeightNormParamAttr, name: str, shape: Sequence[int], dtype: Any, default_init: Any
) -> Any:
    """One of the two parameters; *g* is filled by what the startup program computes from *v*."""
    own = {n: value for n, value in vars(settings).items() if n != "dim"} | {"name": name}
    if name.endswith("_g"):
        return _parameters.undecided(ParamAttr(**{**own, "initializer": None}), shape, dtype)
    return _parameters.make(layer, ParamAttr(**own), shape, dtype, default_init=default_init)


def _emit(block: Block, op_type: str, inputs: tuple[Any, ...], attrs: dict[str, Any], outputs: list[Any]) -> Any:
    op = registry.get_by_type(op_type)
    padded = (*inputs, *[() if s.many else None for s in op.inputs[len(inputs) :]])
    return build.emit(block, op, padded, attrs, outputs).outputs[0]


def _reshaped(block: Block, x: Variable, shape: Sequence[int], out: Any, xshape: str) -> Any:
    return _emit(block, "reshape2", (x,), {"shape": tuple(shape)}, [out, xshape])


class _Norms:
    """Lengths of parts of a weight, as operators of a block."""

    def __init__(self, block: Block, layer: str) -> None:
        self._block = block
        self._layer = layer

    def _name(self, what: str) -> str:
        return default.default_main_program().names(f"{self._layer}.weight_norm_{what}")

    def length(self, v: Variable, dim: int | None, lengths: Sequence[int], target: Variable | None) -> Any:
        """The lengths along every dimension but *dim*, in *target* if that is given."""
        block, out = self._block, target if target is not None else self._name("norm")
        if dim is None and target is None:
            return self._root(v, None, out)
        if dim is None:
            self._root(v, None, out)
            return _reshaped(block, block.vars[v.name[:-2] + "_g"], lengths, target, self._name("shape"))
        axes = [dim, *(i for i in range(v.ndim) if i != dim)]
        last = dim == v.ndim - 1
        moved = v
        if dim > 0 and not last:
            moved = _emit(
                block, "transpose2", (v,), {"axis": tuple(axes)}, [self._name("transpose"), self._name("shape")]
            )
        shape = [-1, v.shape[dim]] if last else [v.shape[dim], -1]
        rows = _reshaped(block, moved, shape, self._name("reshape"), self._name("shape"))
        norm = self._root(rows, 0 if last else 1, self._name("norm"))
        return _reshaped(block, norm, lengths, out, self._name("shape"))

    def _root(self, x: Variable, dim: int | None, out: Any) -> Any:
        """The square root of the sum of squares along *dim*, or of all."""
        block = self._block
        names = [self._name(what) for what in ("abs", "pow", "sum")]
        size = _emit(block, "abs", (x,), {}, [names[0]])
        power = _emit(block, "pow", (size,), {"factor": 2.0}, [names[1]])
        attrs = {"dim": (0 if dim is None else dim,), "keep_dim": False, "reduce_all": dim is None}
        total = _emit(block, "reduce_sum", (power,), attrs, [names[2]])
        return _emit(block, "pow", (total,), {"factor": 0.5}, [out])
