"""``paddle.nn.Layer``: parameters and sub-layers under the names of attributes."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Self

from gradtool.engine.core import state, watch
from gradtool.engine.core.errors import ArgumentTypeError, UsageError, did_you_mean
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.parameter import TensorParameter
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.variable import Parameter
from gradtool.paddle import _lazy, _parameters
from gradtool.paddle.utils import unique_name

from ....engine.core.identity import identity
from .._layer_construction import Constructing
from .._layer_dtypes import Convertible
from .._layer_errors import MissingAttribute, MissingForward, NameTaken, NoLayer
from .._layer_hooks import LayerHooks
from .._layer_paths import Reachable
from .._layer_state import Stateful

AnyParameter = Parameter | TensorParameter
PARAMETERS = (Parameter, TensorParameter)

_HEAD = re.compile(r"(.)([A-Z][a-z]+)")
_TAIL = re.compile(r"([a-z])([A-Z])")


def snake_case(name: str) -> str:
    """``BatchNorm2D`` -> ``batch_norm2d``, ``ReLU`` -> ``re_lu``."""
    return _TAIL.sub(r"\1_\2", _HEAD.sub(r"\1_\2", name)).lower()


_FREEZING = {"stop_gradient": True, "trainable": False, "requires_grad": False}
"""Attributes that freeze a tensor, with the value that does; a layer takes them as it takes any other."""


class Layer(LayerHooks, Stateful, Convertible, Reachable, Constructing):
    """A part of a model: it holds parameters and other layers, and computes when it is called.

    Subclasses call ``super().__init__()`` first, assign parameters and layers to attributes, and define ``forward``.
    In static mode they build programs; in dynamic mode parameters have values at once and calls compute.

    Args:
        name_scope: what the layer's names start with; the name of its class in snake case by default.
        dtype: of the parameters that it makes.

    >>> from gradtool import paddle
    >>> model = paddle.nn.Sequential(paddle.nn.Linear(4, 3), paddle.nn.ReLU())
    >>> [(path, list(p.shape)) for path, p in model.named_parameters()]
    [('0.weight', [4, 3]), ('0.bias', [3])]
    """

    training: bool

    def __init__(self, name_scope: str | None = None, dtype: Any = "float32") -> None:
        fields = self.__dict__
        fields["training"] = True
        fields["_full_name"] = unique_name.generate(name_scope or snake_case(type(self).__name__))
        fields["_dtype"] = dtype_of(dtype).name  # a text, as in Paddle: layers of users compare it with texts
        fields["_parameters"] = OrderedDict()
        fields["_sub_layers"] = OrderedDict()
        fields["_buffers"] = OrderedDict()
        fields["_non_persistable_buffer_names_set"] = set()
        for hooks in ("_forward_pre_hooks", "_forward_post_hooks", "_state_dict_hooks"):
            fields[hooks] = OrderedDict()
        fields["_built"] = False
        fields["_path"] = ""

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Compute the layer; defined by subclasses."""
        raise MissingForward(f"{type(self).__name__} defines no forward()")

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        fields = self.__dict__
        if fields["_built"] and not fields["_forward_pre_hooks"] and not fields["_forward_post_hooks"]:
            return self.forward(*inputs, **kwargs)
        return self._call_with_hooks(inputs, kwargs)

    def full_name(self) -> str:
        """Return the beginning of the names of its parameters: ``linear_0``."""
        return str(self.__dict__["_full_name"])

    # -- attributes -----------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        fields = self.__dict__
        if "_parameters" not in fields:
            if isinstance(value, (*PARAMETERS, Layer)):
                raise UsageError("super().__init__() should be called first")
            object.__setattr__(self, name, value)
        elif isinstance(value, PARAMETERS):
            self._forget(name, "_parameters")
            self._keep_parameter(name, value)
        elif isinstance(value, Layer):
            self._forget(name, "_sub_layers")
            self._keep_layer(name, value)
        elif name in fields["_buffers"] and (value is None or isinstance(value, AnyTensor)):
            fields["_buffers"][name] = value
        elif isinstance(value, Tensor) and not (name in fields["_parameters"] or name in fields["_sub_layers"]):
            # Any other tensor is a buffer too, one that state_dict leaves out.
            self._keep_buffer(name, value, persistable=False)
        else:
            for what, kind in (("_parameters", "parameter"), ("_sub_layers", "sublayer"), ("_buffers", "buffer")):
                if name in fields[what]:
                    self._clear(fields[what], name, value, kind)
                    return
            object.__setattr__(self, name, value)
            if watch.noting and name in _FREEZING and _FREEZING[name] is value:
                parameters = tuple(p for p in self.parameters() if isinstance(p, Tensor))
                watch.note(watch.Labelled(parameters, f"{type(self).__name__}.{name} = {value}"))

    def _clear(self, held: dict[str, Any], name: str, value: Any, kind: str) -> None:
        if value is not None:
            wanted = {"parameter": "Parameter", "sublayer": "Layer", "buffer": "Tensor"}[kind]
            raise ArgumentTypeError(
                f"assignment to {kind} '{name}' should be of type {wanted} or None, but got '{type(value).__name__}'"
            )
        held[name] = None

    def __getattr__(self, name: str) -> Any:
        for what in ("_parameters", "_sub_layers", "_buffers"):
            held = self.__dict__.get(what, {})
            if name in held:
                return held[name]
        names = [n for n in dir(self) if not n.startswith("_")]
        raise MissingAttribute(
            f"'{type(self).__name__}' object has no attribute '{name}'", hint=did_you_mean(name, names)
        )

    def __delattr__(self, name: str) -> None:
        for what in ("_parameters", "_sub_layers", "_buffers"):
            if name in self.__dict__[what]:
                del self.__dict__[what][name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        held = [n for what in ("_parameters", "_sub_layers", "_buffers") for n in self.__dict__.get(what, ())]
        return sorted({*object.__dir__(self), *held})

    def _forget(self, name: str, kind: str) -> None:
        """Let an attribute become one of another *kind*; of the same kind, it keeps its place among the others."""
        fields = self.__dict__
        fields.pop(name, None)
        fields["_non_persistable_buffer_names_set"].discard(name)
        for what in ("_parameters", "_sub_layers", "_buffers"):
            if what != kind:
                fields[what].pop(name, None)

    def _join(self, name: str) -> str:
        path = str(self.__dict__["_path"])
        return f"{path}.{name}" if path else name

    def _keep_parameter(self, name: str, value: AnyParameter) -> None:
        if watch.noting:
            _tell_replaced(self.__dict__["_parameters"].get(name), value)
        self.__dict__["_parameters"][name] = value
        value.layer_path = self._join(name)

    def _keep_layer(self, name: str, value: Layer) -> None:
        if watch.noting:
            _tell_replaced(self.__dict__["_sub_layers"].get(name), value)
        self.__dict__["_sub_layers"][name] = value
        value._place(self._join(name))

    def _place(self, path: str) -> None:
        """Tell the layer, and all that it holds, where it stands in its model.

        Of several places the deepest is kept: a part of a model is often held by a list or a slice of it as well.
        """
        if path.count(".") < self.__dict__["_path"].count("."):
            return
        self.__dict__["_path"] = path
        for name, parameter in self.__dict__["_parameters"].items():
            if parameter is not None:
                parameter.layer_path = self._join(name)
        for name, layer in self.__dict__["_sub_layers"].items():
            if layer is not None:
                layer._place(self._join(name))

    def add_parameter(self, name: str, parameter: AnyParameter | None) -> AnyParameter | None:
        """Hold *parameter* under *name*; the same as assigning it.

        Raises:
            ArgumentTypeError: a wrong type (a TypeError).
            NameTaken: the name is empty, has a dot or belongs to another attribute (a KeyError).
        """
        if not isinstance(name, str):
            raise ArgumentTypeError(f"The name of parameter should be a string, but received {type(name).__name__}.")
        if parameter is not None and not isinstance(parameter, PARAMETERS):
            raise ArgumentTypeError(
                f"The parameter to be added should be a Parameter, but received {type(parameter).__name__}."
            )
        if not name or "." in name:
            raise NameTaken(f"The name of parameter can not be empty or contain a dot, but is {name!r}.")
        if name not in self.__dict__["_parameters"] and name in dir(self):
            raise NameTaken(f"The parameter '{name}' already exists.")
        if parameter is None:
            self.__dict__["_parameters"][name] = None
        else:
            self._keep_parameter(name, parameter)
        return parameter

    def add_sublayer(self, name: str, sublayer: Any) -> Any:
        """Hold *sublayer* under *name*; the same as assigning it. None keeps the place."""
        if sublayer is None:
            self.__dict__["_sub_layers"][str(name)] = None
            return None
        if not isinstance(sublayer, Layer):
            raise NoLayer(f"add_sublayer takes a Layer, but received {type(sublayer).__name__}.")
        self._keep_layer(str(name), sublayer)
        return sublayer

    def register_buffer(self, name: str, tensor: AnyTensor | None, persistable: bool = True) -> None:
        """Hold a variable or tensor that is no parameter under *name*.

        Args:
            persistable: whether :meth:`state_dict` has it.

        Raises:
            ArgumentTypeError: a wrong type (a TypeError).
            NameTaken: the name is empty, has a dot or belongs to another attribute (a KeyError).
        """
        if not isinstance(name, str):
            raise ArgumentTypeError(f"The name of buffer should be a string, but received {type(name).__name__}.")
        if not name or "." in name:
            raise NameTaken(f"The name of buffer can not be empty or contain `.`, but is {name!r}.")
        if name not in self.__dict__["_buffers"] and name in dir(self):
            raise NameTaken(f"attribute '{name}' already exists.")
        if tensor is not None and not isinstance(tensor, AnyTensor):
            raise ArgumentTypeError(f"The registered buffer should be a Tensor, but received {type(tensor).__name__}.")
        self._keep_buffer(name, tensor, persistable)

    def _keep_buffer(self, name: str, tensor: AnyTensor | None, persistable: bool) -> None:
        self._forget(name, "_buffers")
        if not persistable:
            self.__dict__["_non_persistable_buffer_names_set"].add(name)
        self.__dict__["_buffers"][name] = tensor

    def create_parameter(
        self,
        shape: Any,
        attr: Any = None,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Any = None,
    ) -> AnyParameter | None:
        """A parameter named after the layer; None when *attr* is False.

        Args:
            attr: a ParamAttr, a name, an initializer, None, or False.
            dtype: the default dtype when None, whatever the layer's own is, as in Paddle.
            is_bias: name it ``.b_0`` and start it with zeros.
            default_initializer: how it starts when *attr* does not say.
        """
        settings = None if isinstance(attr, str) and not attr else attr
        kind = dtype if dtype is not None else state.default_dtype()
        return _parameters.make(
            self.full_name(), settings, shape, kind, is_bias=is_bias, default_init=default_initializer
        )

    # -- what it holds --------------------------------------------------------------------------------------------

    def named_sublayers(
        self,
        prefix: str = "",
        include_self: bool = False,
        layers_set: set[Layer] | None = None,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Layer]]:
        """Every layer below this one with its path, in the order of assignment.

        Args:
            layers_set: layers that are left out; those that come are added.
            remove_duplicate: whether a layer in several places comes once.
        """
        seen = layers_set if layers_set is not None else set()
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        if include_self:
            yield prefix, self
        for name, layer in self.__dict__["_sub_layers"].items():
            if layer is not None:
                yield from layer.named_sublayers(f"{prefix}.{name}" if prefix else name, True, seen, remove_duplicate)

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        """Every layer below this one."""
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """The layers that this one holds itself, with their names."""
        seen = set()
        for name, layer in self.__dict__["_sub_layers"].items():
            if layer is not None and identity(layer) not in seen:
                seen.add(identity(layer))
                yield name, layer

    def children(self) -> Iterator[Layer]:
        """The layers that this one holds itself."""
        return (layer for _, layer in self.named_children())

    def _named(self, what: str, prefix: str, below: bool, once: bool) -> Iterator[tuple[str, Any]]:
        layers = self.named_sublayers(prefix, True, remove_duplicate=once) if below else iter([(prefix, self)])
        seen = set()
        for path, layer in layers:
            for name, value in layer.__dict__[what].items():
                if value is not None and not (once and identity(value) in seen):
                    seen.add(identity(value))
                    yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, AnyParameter]]:
        """Its parameters with their paths: its own, then those of its layers in the order of assignment.

        Args:
            include_sublayers: whether those of the layers below it are among them.
            remove_duplicate: whether a parameter in several places comes once.
        """
        return self._named("_parameters", prefix, include_sublayers, remove_duplicate)

    def parameters(self, include_sublayers: bool = True) -> list[AnyParameter]:
        """Its parameters."""
        return [p for _, p in self.named_parameters(include_sublayers=include_sublayers)]

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, AnyTensor]]:
        """Its buffers with their paths."""
        return self._named("_buffers", prefix, include_sublayers, remove_duplicate)

    def buffers(self, include_sublayers: bool = True) -> list[AnyTensor]:
        """Its buffers."""
        return [b for _, b in self.named_buffers(include_sublayers=include_sublayers)]

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all its parameters to zeros, or remove them."""
        for parameter in self.parameters():
            if parameter.trainable:
                parameter.clear_gradient(set_to_zero)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the gradients of all its parameters, or set them to zeros."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                parameter.clear_gradient(not set_to_none)

    # -- how it works ---------------------------------------------------------------------------------------------

    def apply(self, fn: Callable[[Layer], Any]) -> Layer:
        """Call *fn* with every layer below this one and with this one, and return this one."""
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Work as in training from now on (dropout, batch normalisation), or not with False; returns the layer."""
        if not isinstance(mode, bool):
            raise UsageError(f"training mode is expected to be boolean, but received {mode!r}")
        for layer in self.sublayers(include_self=True):
            layer.__dict__["training"] = mode
        if watch.noting:
            watch.note(watch.Switched(tuple(p for p in self.parameters() if isinstance(p, Tensor)), mode))
        return self

    def eval(self) -> Self:
        """Work as in testing from now on; returns the layer."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Let gradients flow to all its parameters, or to none; returns the layer."""
        for parameter in self.parameters():
            parameter.stop_gradient = not requires_grad
        return self

    def backward(self, *inputs: Any) -> Any:
        """Layers have none: gradients follow from what ``forward`` computes.

        Raises:
            UsageError: always (a ValueError).
        """
        raise UsageError("Layer shouldn't implement backward", hint="for a gradient of your own, use PyLayer")

    # -- text -----------------------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """The layer's settings, for its text form."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): {layer!r}".replace("\n", "\n  ") for name, layer in self.__dict__["_sub_layers"].items()]
        body = "".join(f"\n  {line}" for line in lines)
        return f"{type(self).__name__}({self.extra_repr()}{body}" + ("\n)" if lines else ")")


def _tell_replaced(before: Any, after: Any) -> None:
    """Tell of the parameters of an attribute that is being assigned to anew."""
    if before is None or before is after:
        return
    watch.note(watch.Replaced(_parameters_within(before), _parameters_within(after)))


def _parameters_within(member: Any) -> dict[str, Tensor]:
    """The parameters of dynamic mode of a layer, or a parameter itself, by the path from there."""
    members = member.named_parameters() if isinstance(member, Layer) else [("", member)]
    return {path: p for path, p in members if isinstance(p, Tensor)}


__getattr__, __dir__ = _lazy.attach(__name__)
