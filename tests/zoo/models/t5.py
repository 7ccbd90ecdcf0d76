"""T5: relative positions in buckets, norms without means, gated GELU, one table for encoder and decoder."""

import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class T5LayerNorm(nn.Layer):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = self.create_parameter(shape=[hidden_size], default_initializer=nn.initializer.Constant(1.0))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        variance = paddle.pow(hidden_states.astype(paddle.get_default_dtype()), 2).mean(axis=-1, keepdim=True)
        return self.weight * (hidden_states * paddle.rsqrt(variance + self.variance_epsilon))


class T5DenseGatedGeluDense(nn.Layer):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.wi_0 = nn.Linear(d_model, d_ff, bias_attr=False)
        self.wi_1 = nn.Linear(d_model, d_ff, bias_attr=False)
        self.wo = nn.Linear(d_ff, d_model, bias_attr=False)

    def forward(self, hidden_states):
        hidden_gelu = F.gelu(self.wi_0(hidden_states), approximate=True)
        return self.wo(hidden_gelu * self.wi_1(hidden_states))


class T5Attention(nn.Layer):
    def __init__(self, d_model, d_kv, num_heads, has_relative_attention_bias=False, is_decoder=False, buckets=8):
        super().__init__()
        self.is_decoder = is_decoder
        self.has_relative_attention_bias = has_relative_attention_bias
        self.buckets = buckets
        self.d_kv, self.n_heads = d_kv, num_heads
        self.inner_dim = num_heads * d_kv
        self.q = nn.Linear(d_model, self.inner_dim, bias_attr=False)
        self.k = nn.Linear(d_model, self.inner_dim, bias_attr=False)
        self.v = nn.Linear(d_model, self.inner_dim, bias_attr=False)
        self.o = nn.Linear(self.inner_dim, d_model, bias_attr=False)
        if has_relative_attention_bias:
            self.relative_attention_bias = nn.Embedding(buckets, num_heads)

    @staticmethod
    def _relative_position_bucket(relative_position, bidirectional=True, num_buckets=8, max_distance=16):
        relative_buckets = 0
        if bidirectional:
            num_buckets //= 2
            relative_buckets += (relative_position > 0).astype(paddle.int64) * num_buckets
            relative_position = paddle.abs(relative_position)
        else:
            relative_position = -paddle.minimum(relative_position, paddle.zeros_like(relative_position))
        # half of the buckets are for exact increments in positions
        max_exact = num_buckets // 2
        is_small = relative_position < max_exact
        # the other half are for logarithmically larger bins in positions up to max_distance
        relative_position_if_large = max_exact + (
            paddle.log(relative_position.astype(paddle.get_default_dtype()) / max_exact)
            / math.log(max_distance / max_exact)
            * (num_buckets - max_exact)
        ).astype(paddle.int64)
        relative_position_if_large = paddle.minimum(
            relative_position_if_large, paddle.full_like(relative_position_if_large, num_buckets - 1)
        )
        relative_buckets += paddle.where(is_small, relative_position, relative_position_if_large)
        return relative_buckets

    def compute_bias(self, query_length, key_length):
        context_position = paddle.arange(query_length).unsqueeze(-1)
        memory_position = paddle.arange(key_length).unsqueeze(0)
        relative_position = memory_position - context_position
        bucket = self._relative_position_bucket(
            relative_position, bidirectional=not self.is_decoder, num_buckets=self.buckets
        )
        values = self.relative_attention_bias(bucket)
        return values.transpose(perm=[2, 0, 1]).unsqueeze(0)

    def shape(self, states):
        return states.reshape(shape=[states.shape[0], -1, self.n_heads, self.d_kv]).transpose(perm=[0, 2, 1, 3])

    def forward(self, hidden_states, mask=None, key_value_states=None, position_bias=None):
        source = hidden_states if key_value_states is None else key_value_states
        query, key, value = self.shape(self.q(hidden_states)), self.shape(self.k(source)), self.shape(self.v(source))
        scores = paddle.matmul(query, key, transpose_y=True)
        if position_bias is None:
            if not self.has_relative_attention_bias:
                position_bias = paddle.zeros(shape=(1, self.n_heads, query.shape[2], key.shape[2]))
            else:
                position_bias = self.compute_bias(query.shape[2], key.shape[2])
            if mask is not None:
                position_bias = position_bias + mask
        scores += position_bias
        attn_weights = F.softmax(scores.astype(paddle.get_default_dtype()), axis=-1).astype(scores.dtype)
        context = paddle.matmul(attn_weights, value).transpose(perm=[0, 2, 1, 3])
        return self.o(context.reshape(shape=[context.shape[0], -1, self.inner_dim])), position_bias


class T5Block(nn.Layer):
    def __init__(self, d_model, d_kv, d_ff, num_heads, is_decoder, has_relative_attention_bias):
        super().__init__()
        self.is_decoder = is_decoder
        self.norm = T5LayerNorm(d_model)
        self.self_attention = T5Attention(d_model, d_kv, num_heads, has_relative_attention_bias, is_decoder)
        if is_decoder:
            self.cross_norm = T5LayerNorm(d_model)
            self.cross_attention = T5Attention(d_model, d_kv, num_heads, False, is_decoder)
        self.ff_norm = T5LayerNorm(d_model)
        self.ff = T5DenseGatedGeluDense(d_model, d_ff)

    def forward(self, hidden, mask, position_bias, encoder_hidden=None, encoder_mask=None, cross_bias=None):
        attended, position_bias = self.self_attention(self.norm(hidden), mask=mask, position_bias=position_bias)
        hidden = hidden + attended
        if self.is_decoder and encoder_hidden is not None:
            attended, cross_bias = self.cross_attention(
                self.cross_norm(hidden), encoder_mask, key_value_states=encoder_hidden, position_bias=cross_bias
            )
            hidden = hidden + attended
        return hidden + self.ff(self.ff_norm(hidden)), position_bias, cross_bias


class T5Stack(nn.Layer):
    def __init__(self, embed_tokens, d_model, d_kv, d_ff, num_heads, num_layers, is_decoder):
        super().__init__()
        self.embed_tokens = embed_tokens
        self.block = nn.LayerList(
            [T5Block(d_model, d_kv, d_ff, num_heads, is_decoder, i == 0) for i in range(num_layers)]
        )
        self.final_layer_norm = T5LayerNorm(d_model)

    def forward(self, ids, mask, encoder_hidden=None, encoder_mask=None):
        hidden = self.embed_tokens(ids)
        position_bias = cross_bias = None
        for layer_module in self.block:
            hidden, position_bias, cross_bias = layer_module(
                hidden, mask, position_bias, encoder_hidden, encoder_mask, cross_bias
            )
        return self.final_layer_norm(hidden)


class T5ForConditionalGeneration(nn.Layer):
    def __init__(self, vocab_size=24, d_model=12, d_kv=6, d_ff=16, num_heads=2, num_layers=2):
        super().__init__()
        self.d_model = d_model
        self.shared = nn.Embedding(vocab_size, d_model)
        self.encoder = T5Stack(self.shared, d_model, d_kv, d_ff, num_heads, num_layers, is_decoder=False)
        self.decoder = T5Stack(self.shared, d_model, d_kv, d_ff, num_heads, num_layers, is_decoder=True)

    def _shift_right(self, labels, start=0):
        shifted = paddle.zeros_like(labels)
        shifted[:, 1:] = labels[:, :-1].clone()
        shifted[:, 0] = start
        return shifted

    def forward(self, input_ids, attention_mask, labels):
        encoder_mask = (1.0 - attention_mask.astype(paddle.get_default_dtype())).unsqueeze([1, 2]) * -1e4
        hidden = self.encoder(input_ids, encoder_mask)
        decoder_ids = self._shift_right(labels)
        length = decoder_ids.shape[1]
        causal = paddle.triu(paddle.full([length, length], -1e4), diagonal=1).unsqueeze([0, 1])
        decoded = self.decoder(decoder_ids, causal, hidden, encoder_mask)
        lm_logits = paddle.matmul(decoded * (self.d_model**-0.5), self.shared.weight, transpose_y=True)
        return nn.CrossEntropyLoss(ignore_index=-100)(lm_logits.reshape([-1, lm_logits.shape[-1]]), labels.flatten())


def network():
    return T5ForConditionalGeneration()


def loss(net):
    rng = np.random.RandomState(12)
    input_ids = rng.randint(1, 24, size=(2, 7)).astype("int64")
    attention_mask = np.ones((2, 7), dtype="int64")
    attention_mask[0, 5:] = 0
    labels = rng.randint(1, 24, size=(2, 5)).astype("int64")
    return net(paddle.to_tensor(input_ids), paddle.to_tensor(attention_mask), paddle.to_tensor(labels))


def build():
    net = network()
    return loss(net), net
