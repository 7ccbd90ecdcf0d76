"""RoFormer for classification: rotary positions on queries and keys, interleaved as sine and cosine."""

import numpy as np
import paddle
import paddle.nn as nn
from paddle.nn import TransformerEncoder, TransformerEncoderLayer


class RotaryPositionEmbedding(nn.Layer):
    def __init__(self, dim, max_position_embeddings=32):
        super().__init__()
        inv_freq = 1.0 / (10000 ** (paddle.arange(0, dim, 2, dtype=paddle.get_default_dtype()) / dim))
        t = paddle.arange(max_position_embeddings, dtype=paddle.get_default_dtype())
        freqs = paddle.matmul(t.unsqueeze(1), inv_freq.unsqueeze(0))
        self.register_buffer("sin", freqs.sin(), persistable=False)
        self.register_buffer("cos", freqs.cos(), persistable=False)

    def forward(self, x, offset=0):
        seqlen = paddle.shape(x)[-2]
        sin, cos = (
            self.sin[offset : offset + seqlen, :],
            self.cos[offset : offset + seqlen, :],
        )
        x1, x2 = x[..., 0::2], x[..., 1::2]
        # [cos_nθ, -sin_nθ] [sin_nθ, cos_nθ]
        return paddle.stack([x1 * cos - x2 * sin, x1 * sin + x2 * cos], axis=-1).flatten(-2, -1)


class MultiHeadAttentionWithRotary(nn.MultiHeadAttention):
    def __init__(self, embed_dim, num_heads, dropout=0.0, max_position_embeddings=32, rotary_value=False):
        super().__init__(embed_dim, num_heads, dropout)
        self.rotary_value = rotary_value
        self.rotary = RotaryPositionEmbedding(self.head_dim, max_position_embeddings)

    def forward(self, query, key, value, attn_mask=None, cache=None):
        key = query if key is None else key
        value = query if value is None else value
        q, k, v = self._prepare_qkv(query, key, value, cache)
        q, k = self.rotary(q), self.rotary(k)
        if self.rotary_value:
            v = self.rotary(v)
        product = paddle.matmul(q, k, transpose_y=True) * self.head_dim**-0.5
        if attn_mask is not None:
            product = product + attn_mask
        weights = nn.functional.softmax(product)
        out = paddle.matmul(weights, v)
        out = paddle.transpose(out, perm=[0, 2, 1, 3])
        out = paddle.reshape(x=out, shape=[0, 0, out.shape[2] * out.shape[3]])
        return self.out_proj(out)


class TransformerEncoderLayerWithRotary(TransformerEncoderLayer):
    def __init__(self, d_model, nhead, dim_feedforward, dropout=0.0, activation="gelu", rotary_value=False, **kwargs):
        super().__init__(d_model, nhead, dim_feedforward, dropout=dropout, activation=activation, **kwargs)
        self.self_attn = MultiHeadAttentionWithRotary(d_model, nhead, dropout=dropout, rotary_value=rotary_value)
        self._config.update({"rotary_value": rotary_value})


class RoFormerForSequenceClassification(nn.Layer):
    def __init__(self, vocab_size, hidden_size, num_layers, num_heads, num_classes):
        super().__init__()
        self.embeddings = nn.Embedding(vocab_size, hidden_size)
        self.norm = nn.LayerNorm(hidden_size)
        layer = TransformerEncoderLayerWithRotary(hidden_size, num_heads, hidden_size * 4)
        self.encoder = TransformerEncoder(layer, num_layers)
        self.classifier = nn.Linear(hidden_size, num_classes)

    def forward(self, input_ids):
        attention_mask = (input_ids == 0).astype(paddle.get_default_dtype()).unsqueeze([1, 2]) * -1e4
        hidden = self.norm(self.embeddings(input_ids))
        return self.classifier(self.encoder(hidden, attention_mask)[:, 0])


def network():
    return RoFormerForSequenceClassification(20, 16, num_layers=2, num_heads=2, num_classes=3)


def loss(net):
    rng = np.random.RandomState(2021)
    input_ids = rng.randint(1, 20, size=(3, 6)).astype("int64")
    input_ids[2, 4:] = 0
    labels = paddle.to_tensor(np.array([0, 2, 1], dtype="int64"))
    return nn.CrossEntropyLoss()(net(paddle.to_tensor(input_ids)), labels)


def build():
    paddle.seed(2021)
    model = network()
    return loss(model), model
