"""Encoders and decoders made of attention and of layers applied to every step alike (Vaswani et al. 2017)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError

from . import functional as F
from ._attention import ImpossibleSize, MultiHeadAttention, additive_mask, positive
from ._containers import LayerList
from ._dropout_layers import Dropout
from ._layers import LayerNorm, Linear
from .layer import Layer


def _convert_param_attr_to_list(param_attr: Any, n: int) -> list[Any]:
    """One setting of parameters for each of *n* parts of a layer; a name that they would share gets a number.

    Models import it by this name.
    """
    if isinstance(param_attr, (list, tuple)):
        if len(param_attr) != n:
            raise ImpossibleSize(
                f"length of param_attr should be {n} when it is a list/tuple, but is {len(param_attr)}"
            )
        return list(param_attr)
    settings = paddle.ParamAttr.of(None if param_attr is True else param_attr)
    if settings is None:
        return [False] * n
    copies = [copy.copy(settings) for _ in range(n)]
    for i, part in enumerate(copies):
        if part.name:
            part.name = f"{part.name}_{i}"
    return copies


class _Block(Layer):
    """Base of the layers of an encoder and a decoder: attentions, and two linear layers with an activation between.

    Every part adds to what it gets (a residual connection), and the sum is normalised, or with *normalize_before*
    what the part gets. Subclasses name the attentions; the linear layers come last.
    """

    attentions: tuple[str, ...] = ()

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        self._config = {n: v for n, v in locals().items() if n not in ("self", "__class__")}
        super().__init__(dtype=state.default_dtype())
        for size, what in ((d_model, "d_model"), (nhead, "nhead"), (dim_feedforward, "dim_feedforward")):
            positive(size, what)
        self.normalize_before = normalize_before
        self.activation = _function(activation)
        parts = len(self.attentions)
        weights, biases = (
            _convert_param_attr_to_list(weight_attr, parts + 1),
            _convert_param_attr_to_list(bias_attr, parts + 1),
        )
        attn_rate = dropout if attn_dropout is None else attn_dropout
        for i, name in enumerate(self.attentions):
            attention = MultiHeadAttention(d_model, nhead, attn_rate, weight_attr=weights[i], bias_attr=biases[i])
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, weights[-1], biases[-1])
        self.dropout = Dropout(dropout if act_dropout is None else act_dropout, mode="upscale_in_train")
        self.linear2 = Linear(dim_feedforward, d_model, weights[-1], biases[-1])
        for i in range(parts + 1):
            setattr(self, f"norm{i + 1}", LayerNorm(d_model, layer_norm_eps))
        for i in range(parts + 1):
            setattr(self, f"dropout{i + 1}", Dropout(dropout, mode="upscale_in_train"))

    def _add(self, place: int, x: Any, part: Callable[[Any], Any]) -> Any:
        """*x* plus what the part in that place makes of it, with the normalisation before or after."""
        norm, dropout = getattr(self, f"norm{place}"), getattr(self, f"dropout{place}")
        y = x + dropout(part(norm(x) if self.normalize_before else x))
        return y if self.normalize_before else norm(y)

    def _feed_forward(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


def _function(name: str) -> Any:
    function = getattr(F, name, None) if isinstance(name, str) and not name.startswith("_") else None
    if not callable(function):
        raise NoActivation(f"activation must name a function of paddle.nn.functional, but received {name!r}.")
    return function


class NoActivation(UsageError, AttributeError):
    """An activation that does not exist (Paddle raises AttributeError)."""


class TransformerEncoderLayer(_Block):
    """A layer of an encoder: attention of a sequence to itself, then two linear layers with an activation between.

    Called with *src* ``[batch, length, d_model]``, a mask and a cache, it returns the same shape, and the new cache if
    there was one. Each of the two parts adds to what it gets, and the sum is normalised.

    Args:
        d_model: size of the steps.
        nhead: heads of the attention.
        dim_feedforward: size between the two linear layers.
        dropout: of what a part adds.
        activation: the name of a function in ``paddle.nn.functional``.
        attn_dropout: of the weights of attention; *dropout* by default.
        act_dropout: after the activation; *dropout* by default.
        normalize_before: normalise what a part gets instead of the sum.
        weight_attr, bias_attr: for all parameters, or a list: for the attention, and for the linear layers.

    Raises:
        ImpossibleSize: a size of 0, or one that the heads cannot share (a ValueError).
        NoActivation: an activation that does not exist (a ValueError).
    """

    attentions = ("self_attn",)

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        caches = [cache]
        mask = additive_mask(src_mask, src)

        def attend(x: Any) -> Any:
            return _attended(self.self_attn, caches, 0, x, x, mask)

        src = self._add(1, src, attend)
        src = self._add(2, src, self._feed_forward)
        return src if cache is None else (src, caches[0])

    def gen_cache(self, src: Any) -> Any:
        """An empty cache for the batch of *src*."""
        return self.self_attn.gen_cache(src, type=self.self_attn.Cache)


def _attended(attention: Any, caches: list[Any], place: int, x: Any, memory: Any, mask: Any) -> Any:
    """Return *x* after *attention* to *memory*; puts its new cache in place of the old one."""
    if caches[place] is None:
        return attention(x, memory, memory, mask)
    out, caches[place] = attention(x, memory, memory, mask, caches[place])
    return out


class TransformerDecoderLayer(_Block):
    """A layer of a decoder: attention to itself, attention to what was encoded, then two linear layers.

    Called with *tgt* ``[batch, length, d_model]``, the *memory* ``[batch, source length, d_model]``, two masks and a
    pair of caches, it returns the shape of *tgt*, and the new caches if there were any. The arguments are those of
    ``TransformerEncoderLayer``, with lists of three attributes: for the two attentions, and for the linear layers.
    """

    attentions = ("self_attn", "cross_attn")

    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None) -> Any:
        caches = [None, None] if cache is None else list(cache)
        own_mask, other_mask = additive_mask(tgt_mask, tgt), additive_mask(memory_mask, memory)
        tgt = self._add(1, tgt, lambda x: _attended(self.self_attn, caches, 0, x, x, own_mask))
        tgt = self._add(2, tgt, lambda x: _attended(self.cross_attn, caches, 1, x, memory, other_mask))
        tgt = self._add(3, tgt, self._feed_forward)
        return tgt if cache is None else (tgt, tuple(caches))

    def gen_cache(self, memory: Any) -> Any:
        """A pair: an empty cache for the batch of *memory*, and one of its projections."""
        own = self.self_attn.gen_cache(memory, type=self.self_attn.Cache)
        return own, self.cross_attn.gen_cache(memory, memory, type=self.cross_attn.StaticCache)


class _Stack(Layer):
    """Layers one after the other, and a normalisation of the result if there is one."""

    def __init__(self, first: Any, num_layers: int, norm: Layer | None) -> None:
        super().__init__(dtype=state.default_dtype())
        # The others are of the same class and settings, with parameters of their own.
        self.layers = LayerList([first if i == 0 else type(first)(**first._config) for i in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def _through(self, x: Any, rest: tuple[Any, ...], masks: dict[str, Any], cache: Any) -> Any:
        """*x* after every layer. Masks go by name: layers of a user need not have them in the same places."""
        caches = []
        for i, layer in enumerate(self.layers):
            if cache is None:
                x = layer(x, *rest, **masks)
            else:
                x, new = layer(x, *rest, **masks, cache=cache[i])
                caches.append(new)
        if self.norm is not None:
            x = self.norm(x)
        return x if cache is None else (x, caches)


class TransformerEncoder(_Stack):
    """*num_layers* layers like *encoder_layer*, which is the first of them, one after the other.

    Args:
        norm: a layer that normalises the result, or None.
    """

    def __init__(self, encoder_layer: TransformerEncoderLayer, num_layers: int, norm: Layer | None = None) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        return self._through(src, (), {"src_mask": additive_mask(src_mask, src)}, cache)

    def gen_cache(self, src: Any) -> list[Any]:
        """An empty cache for each layer, for the batch of *src*."""
        return [layer.gen_cache(src) for layer in self.layers]


class TransformerDecoder(_Stack):
    """*num_layers* layers like *decoder_layer*, which is the first of them, one after the other.

    Args:
        norm: a layer that normalises the result, or None.
    """

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Layer | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None) -> Any:
        masks = {"tgt_mask": additive_mask(tgt_mask, tgt), "memory_mask": additive_mask(memory_mask, memory)}
        return self._through(tgt, (memory,), masks, cache)

    def gen_cache(self, memory: Any, do_zip: bool = False) -> list[Any]:
        """A pair of caches for each layer, or with *do_zip* all first ones and all second ones."""
        pairs = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*pairs, strict=True)) if do_zip else pairs


class Transformer(Layer):
    """An encoder, and a decoder that attends to what it made; both end with a normalisation.

    Called with *src* ``[batch, length, d_model]``, *tgt* ``[batch, target length, d_model]`` and masks, it returns the
    shape of *tgt*. The arguments are those of the layers.

    Args:
        custom_encoder, custom_decoder: layers to use instead.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        custom_encoder: Layer | None = None,
        custom_decoder: Layer | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        settings: dict[str, Any] = {
            "dim_feedforward": dim_feedforward,
            "dropout": dropout,
            "activation": activation,
            "attn_dropout": attn_dropout,
            "act_dropout": act_dropout,
            "normalize_before": normalize_before,
        }

        def picked(attrs: Any, places: list[int]) -> Any:
            """Of one setting for each part of the whole (two attentions and the rest), those of one side."""
            return [attrs[i] for i in places] if isinstance(attrs, (list, tuple)) and len(attrs) == 3 else attrs

        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            settings |= {"weight_attr": picked(weight_attr, [0, 2]), "bias_attr": picked(bias_attr, [0, 2])}
            encoder_layer = TransformerEncoderLayer(d_model, nhead, **settings)
            self.encoder = TransformerEncoder(encoder_layer, num_encoder_layers, LayerNorm(d_model))
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            settings |= {"weight_attr": weight_attr, "bias_attr": bias_attr}
            decoder_layer = TransformerDecoderLayer(d_model, nhead, **settings)
            self.decoder = TransformerDecoder(decoder_layer, num_decoder_layers, LayerNorm(d_model))
        self.d_model, self.nhead = d_model, nhead

    def forward(self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None) -> Any:
        memory = self.encoder(src, src_mask=additive_mask(src_mask, src))
        own_mask = additive_mask(tgt_mask, tgt)
        return self.decoder(tgt, memory, tgt_mask=own_mask, memory_mask=additive_mask(memory_mask, memory))

    def generate_square_subsequent_mask(self, length: int) -> Any:
        """A mask that lets every step see itself and those before it: ``-inf`` above the diagonal."""
        return paddle.triu(paddle.full([length, length], float("-inf")), 1)
