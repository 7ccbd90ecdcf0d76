"""Layers in a row that would be divided among processes: one process has all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError
from gradtool.paddle.nn.layer import Layer


class LayerDesc:
    """A layer that is to be made where it belongs.

    Args:
        layer_func: its class; what follows are its arguments.

    Raises:
        ArgumentTypeError: it is no class of layers (a TypeError).
    """

    def __init__(self, layer_func: type[Layer], *inputs: Any, **kwargs: Any) -> None:
        if not (isinstance(layer_func, type) and issubclass(layer_func, Layer)):
            raise ArgumentTypeError("The input(layer_func) should be a derived class of Layer.")
        self.layer_func, self.inputs, self.kwargs = layer_func, inputs, kwargs

    def build_layer(self) -> Layer:
        """Make it."""
        return self.layer_func(*self.inputs, **self.kwargs)

    def __repr__(self) -> str:
        return f"LayerDesc({self.layer_func.__name__})"


class SharedLayerDesc(LayerDesc):
    """A layer that stands in several places with one weight.

    Args:
        key: those with the same key are one.
        layer_func: its class.
        forward_func: what is called in its place there, with the layer and the input.
        shared_weight_attr: the name of the weight.
    """

    def __init__(
        self,
        key: str,
        layer_func: type[Layer],
        forward_func: Callable[[Layer, Any], Any] | None = None,
        shared_weight_attr: str = "weight",
        *inputs: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(layer_func, *inputs, **kwargs)
        self.layer_name, self.forward_func, self.shared_weight_attr = key, forward_func, shared_weight_attr


class PipelineLayer(Layer):
    """Layers, descriptions of layers and functions, one after another.

    Args:
        layers: them.
        num_stages: among how many processes they are divided: 1.
        loss_fn: what computes the loss from the output and the label; kept as ``_loss_fn``.
        topology, seg_method, recompute_interval, recompute_ctx, num_virtual_pipeline_stages: about the division;
            not used.

    Raises:
        UnsupportedError: several stages are asked for (a ValueError).

    >>> from gradtool import paddle
    >>> from gradtool.paddle.distributed.fleet import meta_parallel as mp
    >>> row = mp.PipelineLayer([mp.LayerDesc(paddle.nn.Linear, 4, 6), paddle.tanh], num_stages=1)
    >>> row(paddle.ones([2, 4])).shape, [*row.state_dict()]
    ([2, 6], ['0.weight', '0.bias'])
    """

    def __init__(
        self,
        layers: Iterable[Any],
        num_stages: int | None = None,
        topology: Any = None,
        loss_fn: Any = None,
        seg_method: str = "uniform",
        recompute_interval: int = 0,
        recompute_ctx: Any = None,
        num_virtual_pipeline_stages: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        if num_stages not in (None, 1):
            raise UnsupportedError(
                f"PipelineLayer: {num_stages} stages are asked for, and gradtool computes in one process.",
                hint="set num_stages=1: the values are the same",
            )
        self._loss_fn = loss_fn
        self.run_function: list[Callable[[Any], Any]] = []
        shared: dict[str, Layer] = {}
        for place, item in enumerate(layers):
            self.run_function.append(self._placed(str(place), item, shared))

    def _placed(self, place: str, item: Any, shared: dict[str, Layer]) -> Callable[[Any], Any]:
        """Return the callable at that place; a layer is kept under its place, a shared one under its key."""
        if isinstance(item, SharedLayerDesc):
            if item.layer_name not in shared:
                shared[item.layer_name] = self.add_sublayer(item.layer_name, item.build_layer())
            layer, call = shared[item.layer_name], item.forward_func
            return layer if call is None else lambda x: call(layer, x)
        if isinstance(item, LayerDesc):
            item = item.build_layer()
        if isinstance(item, Layer):
            self.add_sublayer(place, item)
        return item  # type: ignore[no-any-return]

    def forward(self, input: Any, chunk_id: int | None = None) -> Any:
        """The output of the last layer; several outputs of one are the arguments of the next, as a tuple."""
        for function in self.run_function:
            input = function(input)
        return input

    def get_stage_from_index(self, layer_idx: int) -> int:
        """0: there is one stage."""
        return 0

    def get_num_virtual_stages(self) -> int:
        """1."""
        return 1

    def allreduce_shared_weight_gradients(self) -> None:
        """Shared weights have one gradient already."""
