"""Attention of several heads, with caches for producing a sequence step by step."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.paddle._arguments import tensor

from . import functional as F
from ._layers import Linear
from .layer import Layer


class ImpossibleSize(UsageError, AssertionError):
    """A size that a layer cannot have (Paddle raises AssertionError)."""


def positive(size: int, what: str) -> None:
    """Raise :class:`ImpossibleSize` unless *size* is greater than 0."""
    if size <= 0:
        raise ImpossibleSize(f"Expected {what} to be greater than 0, but received {size}")


def additive_mask(mask: Any, like: Any) -> Any:
    """A mask as what is added to scores of the dtype of *like*: -1e9 where truth values or whole numbers are zero."""
    return None if mask is None else _convert_attention_mask(mask, like.dtype)


def _convert_attention_mask(attn_mask: Any, dtype: Any) -> Any:
    """:func:`additive_mask` of a dtype; models import it by this name."""
    if attn_mask is None or attn_mask.dtype is dtype_of(dtype):
        return attn_mask
    before = attn_mask.dtype
    cast = paddle.cast(attn_mask, dtype)
    return (cast - 1.0) * 1e9 if before.name == "bool" or before.is_integer else cast


class Cache(NamedTuple):
    """Keys and values of the steps so far, ``[batch, heads, steps, head size]``; every call adds its own."""

    k: Any
    v: Any


class StaticCache(NamedTuple):
    """Keys and values of what is attended to, which stay as they are."""

    k: Any
    v: Any


def _split(projected: Any, heads: int, size: int) -> Any:
    """``[batch, length, heads · size]`` as one sequence per head."""
    return paddle.transpose(paddle.reshape(projected, [0, 0, heads, size]), [0, 2, 1, 3])


class MultiHeadAttention(Layer):
    """Attention of several heads (Vaswani et al. 2017): ``softmax(q·kᵀ / sqrt(head size))·v`` of projections.

    Called with *query* ``[batch, length, embed_dim]``, *key* (the query by default) and *value* (the same by default)
    ``[batch, keys, kdim]`` and ``[batch, keys, vdim]``, an *attn_mask* that broadcasts to ``[batch, heads, length,
    keys]`` (numbers are added to the scores; false and 0 hide a key) and a *cache*, it returns the result, or a tuple
    of it, the weights if they are wanted, and the new cache if there is one.

    Args:
        embed_dim: size of the queries and of the result, a multiple of *num_heads*.
        dropout: of the weights.
        kdim, vdim: sizes of keys and values; *embed_dim* by default.
        need_weights: also return the weights, ``[batch, heads, length, keys]``.
        weight_attr, bias_attr: for each of the four projections.

    Raises:
        ImpossibleSize: a size of 0, or one that the heads cannot share (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> x = paddle.static.data("x", [None, 5, 8])
    >>> paddle.nn.MultiHeadAttention(8, 2)(x).shape
    (-1, 5, 8)
    """

    Cache: ClassVar[Any] = Cache
    StaticCache: ClassVar[Any] = StaticCache

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        positive(embed_dim, "embed_dim")
        positive(num_heads, "num_heads")
        if embed_dim % num_heads:
            raise ImpossibleSize(
                "embed_dim must be divisible by num_heads", hint=f"they are {embed_dim} and {num_heads}"
            )
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.dropout, self.need_weights = dropout, need_weights
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def _prepare_qkv(self, query: Any, key: Any, value: Any, cache: Any = None) -> tuple[Any, ...]:
        """Queries, keys and values, one sequence per head, and the new cache if there is one.

        ``forward`` asks this method and no other, so that subclasses decide what is attended to.
        """
        q = _split(self.q_proj(query), self.num_heads, self.head_dim)
        k, v = (cache.k, cache.v) if isinstance(cache, self.StaticCache) else self.compute_kv(key, value)
        if isinstance(cache, self.Cache):
            k, v = paddle.concat([cache.k, k], axis=2), paddle.concat([cache.v, v], axis=2)
            cache = self.Cache(k, v)
        return (q, k, v) if cache is None else (q, k, v, cache)

    def compute_kv(self, key: Any, value: Any) -> tuple[Any, Any]:
        """The projections of keys and values, one sequence per head."""
        k, v = self.k_proj(key), self.v_proj(value)
        return _split(k, self.num_heads, self.head_dim), _split(v, self.num_heads, self.head_dim)

    def gen_cache(self, key: Any, value: Any = None, type: Any = Cache) -> Any:
        """A cache to call the layer with.

        Args:
            type: ``StaticCache`` projects *key* and *value* (*key* by default); ``Cache`` holds them as they are, or
                no steps at all, for the batch of *key*, when there is no *value*.
        """
        if type is StaticCache:
            return self.StaticCache(*self.compute_kv(key, key if value is None else value))
        if value is not None:
            return self.Cache(key, value)
        batch = paddle.shape(key)[0]
        empty = [paddle.full([batch, self.num_heads, 0, self.head_dim], 0.0, key.dtype) for _ in ("k", "v")]
        return self.Cache(*empty)

    def forward(self, query: Any, key: Any = None, value: Any = None, attn_mask: Any = None, cache: Any = None) -> Any:
        query = tensor(query, "query", "MultiHeadAttention")
        key = query if key is None else key
        value = query if value is None else value
        if cache is None:
            q, k, v = self._prepare_qkv(query, key, value, cache)
        else:
            q, k, v, cache = self._prepare_qkv(query, key, value, cache)
        scores = paddle.matmul(q * self.head_dim**-0.5, k, transpose_y=True)
        if attn_mask is not None:
            scores = scores + additive_mask(attn_mask, scores)
        weights = F.dropout(F.softmax(scores), self.dropout, training=self.training, mode="upscale_in_train")
        together = paddle.transpose(paddle.matmul(weights, v), [0, 2, 1, 3])
        out = self.out_proj(paddle.reshape(together, [0, 0, together.shape[2] * together.shape[3]]))
        if not self.need_weights and cache is None:
            return out
        return (out, *((weights,) if self.need_weights else ()), *((cache,) if cache is not None else ()))
