"""Machine translation with nn.Transformer: sinusoid positions, causal mask, label smoothing, Noam decay."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def position_encoding_init(n_position, d_pos_vec):
    channels = d_pos_vec
    position = np.arange(n_position)
    num_timescales = channels // 2
    increment = np.log(1e4) / max(num_timescales - 1, 1)
    inv_timescales = np.exp(np.arange(num_timescales) * -increment)
    scaled = position[:, None] * inv_timescales[None, :]
    return np.concatenate([np.sin(scaled), np.cos(scaled)], axis=1).astype(paddle.get_default_dtype())


class WordEmbedding(nn.Layer):
    def __init__(self, vocab_size, emb_dim, bos_id=0):
        super().__init__()
        self.emb_dim = emb_dim
        self.word_embedding = nn.Embedding(
            num_embeddings=vocab_size,
            embedding_dim=emb_dim,
            padding_idx=bos_id,
            weight_attr=paddle.ParamAttr(initializer=nn.initializer.Normal(0.0, emb_dim**-0.5)),
        )

    def forward(self, word):
        return self.emb_dim**0.5 * self.word_embedding(word)


class PositionalEmbedding(nn.Layer):
    def __init__(self, emb_dim, max_length):
        super().__init__()
        self.pos_encoder = nn.Embedding(num_embeddings=max_length, embedding_dim=emb_dim)
        self.pos_encoder.weight.set_value(position_encoding_init(max_length, emb_dim))
        self.pos_encoder.weight.stop_gradient = True

    def forward(self, pos):
        pos_emb = self.pos_encoder(pos)
        pos_emb.stop_gradient = True
        return pos_emb


class TransformerModel(nn.Layer):
    def __init__(self, vocab_size, max_length, n_layer, n_head, d_model, d_inner_hid, bos_id=0):
        super().__init__()
        self.bos_id = bos_id
        self.word_embedding = WordEmbedding(vocab_size, d_model, bos_id)
        self.pos_embedding = PositionalEmbedding(d_model, max_length)
        self.transformer = nn.Transformer(
            d_model=d_model,
            nhead=n_head,
            num_encoder_layers=n_layer,
            num_decoder_layers=n_layer,
            dim_feedforward=d_inner_hid,
            dropout=0.0,
            activation="relu",
            normalize_before=True,
        )

    def forward(self, src_word, trg_word):
        src_max_len = paddle.shape(src_word)[-1]
        trg_max_len = paddle.shape(trg_word)[-1]
        src_slf_attn_bias = (
            paddle.cast(src_word == self.bos_id, dtype=paddle.get_default_dtype()).unsqueeze([1, 2]) * -1e9
        )
        src_slf_attn_bias.stop_gradient = True
        trg_slf_attn_bias = self.transformer.generate_square_subsequent_mask(trg_max_len)
        trg_slf_attn_bias.stop_gradient = True
        src_pos = paddle.cast(src_word != self.bos_id, dtype=src_word.dtype) * paddle.arange(start=0, end=src_max_len)
        trg_pos = paddle.cast(trg_word != self.bos_id, dtype=src_word.dtype) * paddle.arange(start=0, end=trg_max_len)

        enc_input = self.word_embedding(src_word) + self.pos_embedding(src_pos)
        dec_input = self.word_embedding(trg_word) + self.pos_embedding(trg_pos)
        dec_output = self.transformer(
            enc_input,
            dec_input,
            src_mask=src_slf_attn_bias,
            tgt_mask=trg_slf_attn_bias,
            memory_mask=src_slf_attn_bias,
        )
        # The table of words is the output projection, too.
        return paddle.matmul(dec_output, self.word_embedding.word_embedding.weight, transpose_y=True)


class CrossEntropyCriterion(nn.Layer):
    def __init__(self, label_smooth_eps=None, pad_idx=0):
        super().__init__()
        self.label_smooth_eps = label_smooth_eps
        self.pad_idx = pad_idx

    def forward(self, predict, label):
        weights = paddle.cast(label != self.pad_idx, dtype=paddle.get_default_dtype())
        if self.label_smooth_eps:
            label = paddle.squeeze(label, axis=[2])
            label = F.label_smooth(
                label=F.one_hot(x=label, num_classes=predict.shape[-1]).astype(predict.dtype),
                epsilon=self.label_smooth_eps,
            )
        cost = F.cross_entropy(input=predict, label=label, reduction="none", soft_label=bool(self.label_smooth_eps))
        sum_cost = paddle.sum(cost * weights)
        token_num = paddle.sum(weights)
        token_num.stop_gradient = True
        return sum_cost, sum_cost / token_num, token_num


def network():
    return TransformerModel(vocab_size=16, max_length=8, n_layer=2, n_head=2, d_model=8, d_inner_hid=16)


def loss(net):
    rng = np.random.RandomState(2)
    src = rng.randint(2, 16, size=(2, 6)).astype("int64")
    src[1, 4:] = 0
    trg = rng.randint(2, 16, size=(2, 5)).astype("int64")
    label = np.concatenate([trg[:, 1:], np.array([[1], [0]], dtype="int64")], axis=1)[:, :, None]
    logits = net(paddle.to_tensor(src), paddle.to_tensor(trg))
    return CrossEntropyCriterion(label_smooth_eps=0.1)(logits, paddle.to_tensor(label))[1]


if __name__ == "__main__":
    transformer = network()
    scheduler = paddle.optimizer.lr.NoamDecay(d_model=8, warmup_steps=4, learning_rate=2.0)
    optimizer = paddle.optimizer.Adam(
        learning_rate=scheduler, beta1=0.9, beta2=0.997, epsilon=1e-9, parameters=transformer.parameters()
    )
    for _ in range(1):
        avg_cost = loss(transformer)
        avg_cost.backward()
        optimizer.step()
        optimizer.clear_grad()
        scheduler.step()
