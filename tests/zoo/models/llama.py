"""LLaMA: RMSNorm, rotary positions by rotated halves, grouped keys and values, SwiGLU; the loss over shifted labels."""

import math
from types import SimpleNamespace

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn


class LlamaRMSNorm(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.weight = paddle.create_parameter(
            shape=[config.hidden_size],
            dtype=paddle.get_default_dtype(),
            default_initializer=nn.initializer.Constant(1.0),
        )
        self.variance_epsilon = config.rms_norm_eps

    def forward(self, hidden_states):
        with paddle.amp.auto_cast(False):
            variance = hidden_states.astype(paddle.get_default_dtype()).pow(2).mean(-1, keepdim=True)
            hidden_states = paddle.rsqrt(variance + self.variance_epsilon) * hidden_states
        if self.weight.dtype in [paddle.float16, paddle.bfloat16]:
            hidden_states = paddle.cast(hidden_states, self.weight.dtype)
        return hidden_states * self.weight


def repeat_kv(hidden_states, n_rep):
    batch, slen, num_key_value_heads, head_dim = hidden_states.shape
    if n_rep == 1:
        return hidden_states
    hidden_states = hidden_states.unsqueeze(-2).tile([1, 1, 1, n_rep, 1])
    return hidden_states.reshape([batch, slen, num_key_value_heads * n_rep, head_dim])


class LlamaRotaryEmbedding(nn.Layer):
    def __init__(self, dim, max_position_embeddings=16, base=10000):
        super().__init__()
        self.inv_freq = 1.0 / (base ** (paddle.cast(paddle.arange(0, dim, 2), dtype=paddle.get_default_dtype()) / dim))
        t = paddle.arange(max_position_embeddings, dtype=paddle.get_default_dtype())
        freqs = paddle.einsum("i,j->ij", t, self.inv_freq)
        emb = paddle.concat([freqs, freqs], axis=-1)
        self.cos_cached = emb.cos()[None, :, None, :]
        self.sin_cached = emb.sin()[None, :, None, :]

    def forward(self, x, seq_len=None):
        cos = self.cos_cached[:, :seq_len, :, :]
        sin = self.sin_cached[:, :seq_len, :, :]
        return cos.cast(x.dtype), sin.cast(x.dtype)


def rotate_half(x):
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2 :]
    return paddle.concat([-x2, x1], axis=-1)


def apply_rotary_pos_emb(q, k, cos, sin, position_ids):
    cos = cos.squeeze(axis=[0, 2])[position_ids].unsqueeze(2)
    sin = sin.squeeze(axis=[0, 2])[position_ids].unsqueeze(2)
    return (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)


class LlamaMLP(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias_attr=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias_attr=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias_attr=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaAttention(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.num_heads = config.num_attention_heads
        self.num_key_value_heads = config.num_key_value_heads
        self.head_dim = config.hidden_size // config.num_attention_heads
        kv_size = self.num_key_value_heads * self.head_dim
        self.q_proj = nn.Linear(config.hidden_size, config.hidden_size, bias_attr=False)
        self.k_proj = nn.Linear(config.hidden_size, kv_size, bias_attr=False)
        self.v_proj = nn.Linear(config.hidden_size, kv_size, bias_attr=False)
        self.o_proj = nn.Linear(config.hidden_size, config.hidden_size, bias_attr=False)
        self.rotary_emb = LlamaRotaryEmbedding(self.head_dim, config.max_position_embeddings)

    def forward(self, hidden_states, position_ids, attention_mask):
        bsz, q_len, _ = hidden_states.shape
        query = self.q_proj(hidden_states).reshape(shape=[bsz, q_len, self.num_heads, self.head_dim])
        key = self.k_proj(hidden_states).reshape(shape=[bsz, q_len, self.num_key_value_heads, self.head_dim])
        value = self.v_proj(hidden_states).reshape(shape=[bsz, q_len, self.num_key_value_heads, self.head_dim])
        cos, sin = self.rotary_emb(value, seq_len=q_len)
        query, key = apply_rotary_pos_emb(query, key, cos, sin, position_ids)
        groups = self.num_heads // self.num_key_value_heads
        key, value = repeat_kv(key, groups), repeat_kv(value, groups)

        query = paddle.transpose(query, [0, 2, 1, 3]) / math.sqrt(self.head_dim)
        key = paddle.transpose(key, [0, 2, 1, 3])
        value = paddle.transpose(value, [0, 2, 1, 3])
        attn_weights = paddle.matmul(query, key.transpose([0, 1, 3, 2])) + attention_mask
        attn_weights = F.softmax(attn_weights, axis=-1, dtype=paddle.get_default_dtype()).astype(query.dtype)
        attn_output = paddle.matmul(attn_weights, value).transpose([0, 2, 1, 3])
        return self.o_proj(attn_output.reshape([bsz, q_len, self.head_dim * self.num_heads]))


class LlamaDecoderLayer(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.self_attn = LlamaAttention(config)
        self.mlp = LlamaMLP(config)
        self.input_layernorm = LlamaRMSNorm(config)
        self.post_attention_layernorm = LlamaRMSNorm(config)

    def forward(self, hidden_states, position_ids, attention_mask):
        residual = hidden_states
        hidden_states = self.input_layernorm(hidden_states)
        hidden_states = residual + self.self_attn(hidden_states, position_ids, attention_mask)
        residual = hidden_states
        hidden_states = self.post_attention_layernorm(hidden_states)
        return residual + self.mlp(hidden_states)


class LlamaForCausalLM(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.LayerList([LlamaDecoderLayer(config) for _ in range(config.num_hidden_layers)])
        self.norm = LlamaRMSNorm(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias_attr=False)

    @staticmethod
    def _prepare_decoder_attention_mask(attention_mask, seq_length):
        causal = paddle.tril(paddle.ones((seq_length, seq_length), dtype="bool"))
        expanded = attention_mask[:, None, None, :].astype("bool").expand([-1, 1, seq_length, -1])
        allowed = paddle.logical_and(causal.unsqueeze([0, 1]), expanded)
        return paddle.where(allowed, 0.0, float(np.finfo(paddle.get_default_dtype()).min)).astype(
            paddle.get_default_dtype()
        )

    def forward(self, input_ids, attention_mask, labels):
        batch_size, seq_length = input_ids.shape
        position_ids = paddle.arange(seq_length, dtype="int64").expand((batch_size, seq_length))
        mask = self._prepare_decoder_attention_mask(attention_mask, seq_length)
        hidden_states = self.embed_tokens(input_ids)
        for decoder_layer in self.layers:
            hidden_states = decoder_layer(hidden_states, position_ids, mask)
        logits = self.lm_head(self.norm(hidden_states))
        shift_logits, shift_labels = logits[:, :-1, :], labels[:, 1:]
        masked_lm_loss = F.cross_entropy(
            shift_logits.astype(paddle.get_default_dtype()),
            shift_labels.unsqueeze(2),
            reduction="none",
            ignore_index=-100,
        )
        masked_lm_loss = masked_lm_loss[masked_lm_loss > 0]
        return paddle.mean(masked_lm_loss), logits


def network():
    config = SimpleNamespace(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=16,
        rms_norm_eps=1e-6,
    )
    return LlamaForCausalLM(config)


def loss(net):
    rng = np.random.RandomState(7)
    input_ids = rng.randint(1, 32, size=(2, 7)).astype("int64")
    attention_mask = np.ones_like(input_ids)
    attention_mask[1, 5:] = 0
    labels = np.where(attention_mask == 1, input_ids, -100)
    return net(paddle.to_tensor(input_ids), paddle.to_tensor(attention_mask), paddle.to_tensor(labels))[0]


def build():
    net = network()
    return loss(net), net
