"""Layers around the functions of ``paddle.incubate.nn.functional``."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import UnsupportedError, UsageError
from gradtool.paddle.nn import initializer
from gradtool.paddle.nn._dropout_layers import Dropout
from gradtool.paddle.nn.layer import Layer

from . import functional


class FusedDropout(Dropout):
    """As :class:`paddle.nn.Dropout`."""

    def __init__(
        self, p: float = 0.5, axis: Any = None, mode: str = "upscale_in_train", name: str | None = None
    ) -> None:
        super().__init__(p, axis, mode, name)


class FusedLinear(Layer):
    """``x · weight + bias`` over the last dimension.

    Args:
        transpose_weight: the weight is ``[out_features, in_features]``.

    >>> from gradtool import paddle
    >>> layer = paddle.incubate.nn.FusedLinear(3, 2, transpose_weight=True)
    >>> list(layer.weight.shape), list(layer(paddle.ones([4, 3])).shape)
    ([2, 3], [4, 2])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        transpose_weight: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        shape = [out_features, in_features] if transpose_weight else [in_features, out_features]
        self.weight: Any = self.create_parameter(shape, weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)
        self.transpose_weight, self.name = transpose_weight, name

    def forward(self, input: Any) -> Any:
        return functional.fused_linear(input, self.weight, self.bias, self.transpose_weight)


class FusedDropoutAdd(Layer):
    """``dropout(x) + y``."""

    def __init__(self, p: float = 0.5, mode: str = "upscale_in_train", name: str | None = None) -> None:
        super().__init__(dtype=state.default_dtype())
        self.p, self.mode, self.name = p, mode, name

    def forward(self, x: Any, y: Any) -> Any:
        return functional.fused_dropout_add(x, y, self.p, self.training, self.mode)

    def extra_repr(self) -> str:
        """The arguments."""
        return f"p={self.p}, mode={self.mode}"


class FusedBiasDropoutResidualLayerNorm(Layer):
    """``layer_norm(residual + dropout(x + bias))`` over the last dimension, of *embed_dim*.

    Raises:
        UsageError: a size below 1 (a ValueError).
    """

    def __init__(
        self,
        embed_dim: int,
        dropout_rate: float = 0.5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        epsilon: float = 1e-05,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        _positive("FusedBiasDropoutResidualLayerNorm", embed_dim=embed_dim)
        self.embed_dim, self.dropout_rate, self._epsilon, self.name = embed_dim, dropout_rate, epsilon, name
        self.linear_bias: Any = self.create_parameter([embed_dim], bias_attr, is_bias=True)
        self.ln_scale: Any = self.create_parameter(
            [embed_dim], weight_attr, default_initializer=initializer.Constant(1.0)
        )
        self.ln_bias: Any = self.create_parameter([embed_dim], bias_attr, is_bias=True)

    def forward(self, x: Any, residual: Any) -> Any:
        return functional.fused_bias_dropout_residual_layer_norm(
            x,
            residual,
            self.linear_bias,
            self.ln_scale,
            self.ln_bias,
            self.dropout_rate,
            self._epsilon,
            self.training,
        )

    def extra_repr(self) -> str:
        """The arguments."""
        return f"embed_dim={self.embed_dim}, dropout_rate={self.dropout_rate}, epsilon={self._epsilon}"


def _positive(where: str, **sizes: int) -> None:
    for name, size in sizes.items():
        if size <= 0:
            raise UsageError(f"{where}: Expected {name} to be greater than 0, but received {size}.")


def _one_process(where: str, nranks: int, ring_id: int) -> None:
    if nranks != 1 or ring_id != -1:
        raise UnsupportedError(
            f"{where}: nranks and ring_id divide it among devices; gradtool computes in one process."
        )


class FusedMultiHeadAttention(Layer):
    """Attention of a sequence ``[batch, length, embed_dim]`` to itself, added to it, with a layer norm before or after.

    Args:
        num_heads: in how many parts of the size.
        dropout_rate, attn_dropout_rate: of what is added, and of the weights of attention.
        normalize_before: norm the sequence instead of the sum.
        transpose_qkv_wb: the weight of query, key and value is ``[embed_dim, 3 · embed_dim]``.

    Raises:
        UsageError: a size below 1, one that the heads cannot share, or weights are asked for (a ValueError).
        UnsupportedError: *nranks* and *ring_id* of several devices (a ValueError).
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout_rate: float = 0.5,
        attn_dropout_rate: float = 0.5,
        kdim: int | None = None,
        vdim: int | None = None,
        normalize_before: bool = False,
        need_weights: bool = False,
        qkv_weight_attr: Any = None,
        qkv_bias_attr: Any = None,
        linear_weight_attr: Any = None,
        linear_bias_attr: Any = None,
        pre_ln_scale_attr: Any = None,
        pre_ln_bias_attr: Any = None,
        ln_scale_attr: Any = None,
        ln_bias_attr: Any = None,
        epsilon: float = 1e-05,
        nranks: int = 1,
        ring_id: int = -1,
        transpose_qkv_wb: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        where = "FusedMultiHeadAttention"
        _positive(where, embed_dim=embed_dim, num_heads=num_heads)
        _one_process(where, nranks, ring_id)
        if need_weights:
            raise UsageError(f"{where}: Only support need_weight is False now.")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise UsageError(f"{where}: embed_dim must be divisible by num_heads, but are {embed_dim} and {num_heads}.")
        self.normalize_before, self.need_weights, self.kdim, self.vdim = normalize_before, need_weights, kdim, vdim
        self.dropout_rate, self.attn_dropout_rate, self._epsilon = dropout_rate, attn_dropout_rate, epsilon
        self.transpose_qkv_wb, self.name = transpose_qkv_wb, name
        shape = [embed_dim, 3 * embed_dim] if transpose_qkv_wb else [3, num_heads, self.head_dim, embed_dim]
        self.qkv_weight: Any = self.create_parameter(shape, qkv_weight_attr)
        bias_shape = [3 * embed_dim] if transpose_qkv_wb else [3, num_heads, self.head_dim]
        self.qkv_bias = self.create_parameter(bias_shape, qkv_bias_attr, is_bias=True)
        self.linear_weight: Any = self.create_parameter([embed_dim, embed_dim], linear_weight_attr)
        self.linear_bias = self.create_parameter([embed_dim], linear_bias_attr, is_bias=True)
        ones = initializer.Constant(1.0)
        if normalize_before:
            self.pre_ln_scale = self.create_parameter([embed_dim], pre_ln_scale_attr, default_initializer=ones)
            self.pre_ln_bias = self.create_parameter([embed_dim], pre_ln_bias_attr, is_bias=True)
            self.ln_scale = self.ln_bias = None
        else:
            self.pre_ln_scale = self.pre_ln_bias = None
            self.ln_scale = self.create_parameter([embed_dim], ln_scale_attr, default_initializer=ones)
            self.ln_bias = self.create_parameter([embed_dim], ln_bias_attr, is_bias=True)

    def forward(self, query: Any, key: Any = None, value: Any = None, attn_mask: Any = None, cache: Any = None) -> Any:
        """The sequence after it, and with *cache* the new one.

        Args:
            key, value: accepted for compatibility: the sequence attends to itself.
            attn_mask: added to scores; False and 0 hide where it has no floats.
            cache: ``[2, batch, heads, steps, head size]``.
        """
        return functional.fused_multi_head_attention(
            query,
            self.qkv_weight,
            self.linear_weight,
            self.normalize_before,
            self.pre_ln_scale,
            self.pre_ln_bias,
            self.ln_scale,
            self.ln_bias,
            self._epsilon,
            self.qkv_bias,
            self.linear_bias,
            cache,
            attn_mask,
            self.dropout_rate,
            self.attn_dropout_rate,
            self._epsilon,
            self.training,
            num_heads=self.num_heads,
            transpose_qkv_wb=self.transpose_qkv_wb,
        )

    def extra_repr(self) -> str:
        """The arguments."""
        return (
            f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, dropout_rate={self.dropout_rate}, "
            f"attn_dropout_rate={self.attn_dropout_rate}, epsilon={self._epsilon}, kdim={self.kdim}, vdim={self.vdim}, "
            f"normalize_before={self.normalize_before}, need_weights={self.need_weights}, dtype={self._dtype}"
        )


class FusedFeedForward(Layer):
    """Two linear layers with an activation between, added to ``[batch, length, d_model]``, normed before or after.

    Raises:
        UsageError: a size below 1 (a ValueError).
        UnsupportedError: *nranks* and *ring_id* of several devices (a ValueError).
    """

    def __init__(
        self,
        d_model: int,
        dim_feedforward: int,
        dropout_rate: float = 0.1,
        epsilon: float = 1e-05,
        activation: str = "relu",
        act_dropout_rate: float | None = None,
        normalize_before: bool = False,
        linear1_weight_attr: Any = None,
        linear1_bias_attr: Any = None,
        linear2_weight_attr: Any = None,
        linear2_bias_attr: Any = None,
        ln1_scale_attr: Any = None,
        ln1_bias_attr: Any = None,
        ln2_scale_attr: Any = None,
        ln2_bias_attr: Any = None,
        nranks: int = 1,
        ring_id: int = -1,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        _positive("FusedFeedForward", d_model=d_model, dim_feedforward=dim_feedforward)
        _one_process("FusedFeedForward", nranks, ring_id)
        self._d_model, self._dim_feedforward, self._epsilon = d_model, dim_feedforward, epsilon
        self._dropout_rate = dropout_rate
        self._act_dropout_rate = dropout_rate if act_dropout_rate is None else act_dropout_rate
        self._act_method, self._normalize_before, self.name = activation, normalize_before, name
        self._linear1_weight: Any = self.create_parameter([d_model, dim_feedforward], linear1_weight_attr)
        self._linear1_bias = self.create_parameter([dim_feedforward], linear1_bias_attr, is_bias=True)
        self._linear2_weight: Any = self.create_parameter([dim_feedforward, d_model], linear2_weight_attr)
        self._linear2_bias = self.create_parameter([d_model], linear2_bias_attr, is_bias=True)
        ones = initializer.Constant(1.0)
        if normalize_before:
            self._ln1_scale = self.create_parameter([d_model], ln1_scale_attr, default_initializer=ones)
            self._ln1_bias = self.create_parameter([d_model], ln1_bias_attr, is_bias=True)
            self._ln2_scale = self._ln2_bias = None
        else:
            self._ln1_scale = self._ln1_bias = None
            self._ln2_scale = self.create_parameter([d_model], ln2_scale_attr, default_initializer=ones)
            self._ln2_bias = self.create_parameter([d_model], ln2_bias_attr, is_bias=True)

    def forward(self, src: Any, cache: Any = None) -> Any:
        """*src* after it; *cache* is accepted for compatibility."""
        return functional.fused_feedforward(
            src,
            self._linear1_weight,
            self._linear2_weight,
            self._linear1_bias,
            self._linear2_bias,
            self._ln1_scale,
            self._ln1_bias,
            self._ln2_scale,
            self._ln2_bias,
            self._act_dropout_rate,
            self._dropout_rate,
            self._act_method,
            self._epsilon,
            self._epsilon,
            self._normalize_before,
            self.training,
        )

    def extra_repr(self) -> str:
        """The arguments."""
        return (
            f"d_model={self._d_model}, dim_feedforward={self._dim_feedforward}, dropout_rate={self._dropout_rate}, "
            f"epsilon={self._epsilon}, activation={self._act_method}, act_dropout_rate={self._act_dropout_rate}, "
            f"normalize_before={self._normalize_before}, dtype={self._dtype}"
        )


class FusedTransformerEncoderLayer(Layer):
    """A layer of an encoder: :class:`FusedMultiHeadAttention`, then :class:`FusedFeedForward`.

    Args:
        weight_attr, bias_attr: for all parameters, or a list of two: for the attention, and for the linear layers.

    Raises:
        UsageError: a size below 1 (a ValueError).
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout_rate: float = 0.1,
        activation: str = "relu",
        attn_dropout_rate: float | None = None,
        act_dropout_rate: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        from gradtool.paddle.nn._transformer import _convert_param_attr_to_list

        super().__init__(dtype=state.default_dtype())
        _positive("FusedTransformerEncoderLayer", d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        weights, biases = _convert_param_attr_to_list(weight_attr, 2), _convert_param_attr_to_list(bias_attr, 2)
        self.normalize_before = normalize_before
        self.fused_attn = FusedMultiHeadAttention(
            d_model,
            nhead,
            dropout_rate,
            dropout_rate if attn_dropout_rate is None else attn_dropout_rate,
            normalize_before=normalize_before,
            qkv_weight_attr=weights[0],
            qkv_bias_attr=biases[0],
            linear_weight_attr=weights[0],
            linear_bias_attr=biases[0],
            pre_ln_scale_attr=weights[0],
            pre_ln_bias_attr=biases[0],
            ln_scale_attr=weights[0],
            ln_bias_attr=biases[0],
        )
        self.ffn = FusedFeedForward(
            d_model,
            dim_feedforward,
            dropout_rate,
            activation=activation,
            act_dropout_rate=act_dropout_rate,
            normalize_before=normalize_before,
            linear1_weight_attr=weights[1],
            linear1_bias_attr=biases[1],
            linear2_weight_attr=weights[1],
            linear2_bias_attr=biases[1],
        )

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        out = self.fused_attn(src, attn_mask=src_mask, cache=cache)
        if cache is None:
            return self.ffn(out)
        return self.ffn(out[0]), out[1]


PARTS = ("ln", "qkv", "linear", "ffn_ln", "ffn1", "ffn2")
"""What a layer of :class:`FusedMultiTransformer` has a weight of, and a bias where its attribute is given."""


class FusedMultiTransformer(Layer):
    """Layers of a decoder, one after the other: ``functional.fused_multi_transformer`` with their parameters.

    Every ``…_attrs`` is one for all layers or a list of one for each; there is no bias where it is None.

    Raises:
        UsageError: a size below 1, or no number of layers (a ValueError).
        UnsupportedError: *nranks* and *ring_id* of several devices, or heads that share keys (a ValueError).
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dim_feedforward: int,
        dropout_rate: float = 0.0,
        activation: str = "gelu",
        normalize_before: bool = True,
        ln_scale_attrs: Any = None,
        ln_bias_attrs: Any = None,
        qkv_weight_attrs: Any = None,
        qkv_bias_attrs: Any = None,
        linear_weight_attrs: Any = None,
        linear_bias_attrs: Any = None,
        ffn_ln_scale_attrs: Any = None,
        ffn_ln_bias_attrs: Any = None,
        ffn1_weight_attrs: Any = None,
        ffn1_bias_attrs: Any = None,
        ffn2_weight_attrs: Any = None,
        ffn2_bias_attrs: Any = None,
        epsilon: float = 1e-05,
        residual_alpha: float = 1.0,
        num_layers: int = -1,
        nranks: int = 1,
        trans_qkvw: bool = True,
        ring_id: int = -1,
        norm_type: str = "layernorm",
        use_neox_rotary_style: bool = False,
        gqa_group_size: int = -1,
        name: str | None = None,
    ) -> None:
        attrs: dict[str, tuple[Any, Any]] = {
            "ln": (ln_scale_attrs, ln_bias_attrs),
            "qkv": (qkv_weight_attrs, qkv_bias_attrs),
            "linear": (linear_weight_attrs, linear_bias_attrs),
            "ffn_ln": (ffn_ln_scale_attrs, ffn_ln_bias_attrs),
            "ffn1": (ffn1_weight_attrs, ffn1_bias_attrs),
            "ffn2": (ffn2_weight_attrs, ffn2_bias_attrs),
        }
        super().__init__(dtype=state.default_dtype())
        where = "FusedMultiTransformer"
        _positive(where, embed_dim=embed_dim, num_heads=num_heads, dim_feedforward=dim_feedforward)
        _one_process(where, nranks, ring_id)
        if isinstance(qkv_weight_attrs, (list, tuple)):
            num_layers = len(qkv_weight_attrs)
        if num_layers <= 0:
            raise UsageError(f"{where}: num_layers must be given, or a list of qkv_weight_attrs.")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.normalize_before, self.activation, self.dropout_rate, self.name = (
            normalize_before,
            activation,
            dropout_rate,
            name,
        )
        self._settings = {
            "epsilon": epsilon,
            "residual_alpha": residual_alpha,
            "trans_qkvw": trans_qkvw,
            "norm_type": norm_type,
            "gqa_group_size": gqa_group_size,
        }
        heads = [num_heads, self.head_dim]
        shapes: dict[str, tuple[list[int], list[int]]] = {
            "ln": ([embed_dim], [embed_dim]),
            "qkv": ([3, *heads, embed_dim] if trans_qkvw else [embed_dim, 3, *heads], [3, *heads]),
            "linear": ([embed_dim, embed_dim], [embed_dim]),
            "ffn_ln": ([embed_dim], [embed_dim]),
            "ffn1": ([embed_dim, dim_feedforward], [dim_feedforward]),
            "ffn2": ([dim_feedforward, embed_dim], [embed_dim]),
        }
        for part in PARTS:
            weights = "scales" if part in ("ln", "ffn_ln") else "weights"
            setattr(self, f"{part}_{weights}", [])
            setattr(self, f"{part}_biases", [] if attrs[part][1] else None)
        for i in range(num_layers):
            for part in PARTS:
                self._add(part, i, attrs[part], shapes[part])

    def _add(self, part: str, i: int, attrs: tuple[Any, Any], shapes: tuple[list[int], list[int]]) -> None:
        """The weight of one part of a layer, and its bias where there is one."""
        norm = part in ("ln", "ffn_ln")
        weight_attr, bias_attr = (a[i] if isinstance(a, (list, tuple)) else a for a in attrs)
        usual = initializer.Constant(1.0) if norm else None
        weight: Any = self.create_parameter(shapes[0], weight_attr, default_initializer=usual)
        self._keep_parameter(weight.name, weight)
        getattr(self, f"{part}_scales" if norm else f"{part}_weights").append(weight)
        if bias_attr:
            bias: Any = self.create_parameter(shapes[1], bias_attr, is_bias=True)
            self._keep_parameter(bias.name, bias)
            getattr(self, f"{part}_biases").append(bias)

    def forward(
        self,
        src: Any,
        attn_mask: Any = None,
        caches: Any = None,
        pre_caches: Any = None,
        rotary_embs: Any = None,
        rotary_emb_dims: int = 0,
        seq_lens: Any = None,
        time_step: Any = None,
    ) -> Any:
        """*src* ``[batch, length, embed_dim]`` after all layers, and with *caches* these, too."""
        pairs = [
            getattr(self, f"{part}_{kind}")
            for part in PARTS
            for kind in ("scales" if part in ("ln", "ffn_ln") else "weights", "biases")
        ]
        return functional.fused_multi_transformer(
            src,
            *pairs,
            pre_layer_norm=self.normalize_before,
            cache_kvs=caches,
            pre_caches=pre_caches,
            rotary_embs=rotary_embs,
            seq_lens=seq_lens,
            time_step=time_step,
            attn_mask=attn_mask,
            dropout_rate=self.dropout_rate,
            activation=self.activation,
            training=self.training,
            **self._settings,
        )
