"""BERT pretraining: masked words and the next sentence, over nn.TransformerEncoder, with the tied table of words."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle import Tensor


class BertEmbeddings(nn.Layer):
    def __init__(self, vocab_size, hidden_size, hidden_dropout_prob, max_position_embeddings, type_vocab_size):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab_size, hidden_size)
        self.position_embeddings = nn.Embedding(max_position_embeddings, hidden_size)
        self.token_type_embeddings = nn.Embedding(type_vocab_size, hidden_size)
        self.layer_norm = nn.LayerNorm(hidden_size)
        self.dropout = nn.Dropout(hidden_dropout_prob)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor | None = None, position_ids: Tensor | None = None):
        if position_ids is None:
            ones = paddle.ones_like(input_ids, dtype="int64")
            seq_length = paddle.cumsum(ones, axis=-1)
            position_ids = seq_length - ones
            position_ids.stop_gradient = True
        if token_type_ids is None:
            token_type_ids = paddle.zeros_like(input_ids, dtype="int64")
        embeddings = (
            self.word_embeddings(input_ids)
            + self.position_embeddings(position_ids)
            + self.token_type_embeddings(token_type_ids)
        )
        return self.dropout(self.layer_norm(embeddings))


class BertPooler(nn.Layer):
    def __init__(self, hidden_size, pool_act="tanh"):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.activation = nn.Tanh()
        self.pool_act = pool_act

    def forward(self, hidden_states):
        pooled_output = self.dense(hidden_states[:, 0])
        if self.pool_act == "tanh":
            pooled_output = self.activation(pooled_output)
        return pooled_output


class BertModel(nn.Layer):
    def __init__(
        self,
        vocab_size,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        hidden_act="gelu",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        max_position_embeddings=16,
        type_vocab_size=2,
        initializer_range=0.02,
        pad_token_id=0,
    ):
        super().__init__()
        self.pad_token_id = pad_token_id
        self.initializer_range = initializer_range
        self.embeddings = BertEmbeddings(
            vocab_size, hidden_size, hidden_dropout_prob, max_position_embeddings, type_vocab_size
        )
        encoder_layer = nn.TransformerEncoderLayer(
            hidden_size,
            num_attention_heads,
            intermediate_size,
            dropout=hidden_dropout_prob,
            activation=hidden_act,
            attn_dropout=attention_probs_dropout_prob,
            act_dropout=0,
        )
        self.encoder = nn.TransformerEncoder(encoder_layer, num_hidden_layers)
        self.pooler = BertPooler(hidden_size)
        self.apply(self.init_weights)

    def init_weights(self, layer):
        if isinstance(layer, (nn.Linear, nn.Embedding)):
            layer.weight.set_value(paddle.normal(mean=0.0, std=self.initializer_range, shape=layer.weight.shape))
        elif isinstance(layer, nn.LayerNorm):
            layer._epsilon = 1e-12

    def forward(self, input_ids, token_type_ids=None, position_ids=None, attention_mask=None):
        if attention_mask is None:
            attention_mask = paddle.unsqueeze(
                (input_ids == self.pad_token_id).astype(self.pooler.dense.weight.dtype) * -1e4, axis=[1, 2]
            )
        embedding_output = self.embeddings(input_ids, token_type_ids, position_ids)
        sequence_output = self.encoder(embedding_output, attention_mask)
        return sequence_output, self.pooler(sequence_output)


class BertLMPredictionHead(nn.Layer):
    def __init__(self, hidden_size, vocab_size, activation, embedding_weights=None):
        super().__init__()
        self.transform = nn.Linear(hidden_size, hidden_size)
        self.activation = getattr(nn.functional, activation)
        self.layer_norm = nn.LayerNorm(hidden_size)
        self.decoder_weight = (
            self.create_parameter(shape=[vocab_size, hidden_size], dtype=self.transform.weight.dtype, is_bias=False)
            if embedding_weights is None
            else embedding_weights
        )
        self.decoder_bias = self.create_parameter(shape=[vocab_size], dtype=self.decoder_weight.dtype, is_bias=True)

    def forward(self, hidden_states, masked_positions=None):
        if masked_positions is not None:
            hidden_states = paddle.reshape(hidden_states, [-1, hidden_states.shape[-1]])
            hidden_states = paddle.tensor.gather(hidden_states, masked_positions)
        hidden_states = self.transform(hidden_states)
        hidden_states = self.activation(hidden_states)
        hidden_states = self.layer_norm(hidden_states)
        return paddle.tensor.matmul(hidden_states, self.decoder_weight, transpose_y=True) + self.decoder_bias


class BertForPretraining(nn.Layer):
    def __init__(self, bert, hidden_size, vocab_size):
        super().__init__()
        self.bert = bert
        self.predictions = BertLMPredictionHead(
            hidden_size, vocab_size, "gelu", embedding_weights=bert.embeddings.word_embeddings.weight
        )
        self.seq_relationship = nn.Linear(hidden_size, 2)

    def forward(self, input_ids, token_type_ids, masked_positions):
        sequence_output, pooled_output = self.bert(input_ids, token_type_ids)
        return self.predictions(sequence_output, masked_positions), self.seq_relationship(pooled_output)


class BertPretrainingCriterion(nn.Layer):
    def __init__(self, vocab_size):
        super().__init__()
        self.loss_fn = nn.loss.CrossEntropyLoss(ignore_index=-1)
        self.vocab_size = vocab_size

    def forward(self, prediction_scores, seq_relationship_score, mlm_labels, nsp_labels, scale):
        mlm = F.cross_entropy(prediction_scores, mlm_labels, reduction="none", ignore_index=-1) / scale
        nsp = F.cross_entropy(seq_relationship_score, nsp_labels, reduction="none")
        return paddle.sum(mlm) + paddle.mean(nsp)


def network():
    return BertForPretraining(BertModel(24), hidden_size=16, vocab_size=24)


def loss(net):
    rng = np.random.RandomState(42)
    input_ids = rng.randint(4, 24, size=(2, 8)).astype("int64")
    input_ids[1, 6:] = 0
    segment_ids = np.array([[0] * 4 + [1] * 4, [0] * 3 + [1] * 3 + [0] * 2], dtype="int64")
    masked_positions = np.array([1, 5, 9, 12], dtype="int32")
    mlm_labels = input_ids.reshape(-1)[masked_positions][:, None]
    np.put(input_ids, masked_positions, 3)
    prediction_scores, seq_relationship_score = net(
        paddle.to_tensor(input_ids), paddle.to_tensor(segment_ids), paddle.to_tensor(masked_positions)
    )
    criterion = BertPretrainingCriterion(24)
    return criterion(
        prediction_scores,
        seq_relationship_score,
        paddle.to_tensor(mlm_labels),
        paddle.to_tensor([[0], [1]]),
        float(len(masked_positions)),
    )


def main():
    paddle.seed(42)
    model = network()
    decay = [p.name for n, p in model.named_parameters() if not any(nd in n for nd in ["bias", "norm"])]
    optimizer = paddle.optimizer.AdamW(
        learning_rate=1e-4,
        epsilon=1e-8,
        parameters=model.parameters(),
        weight_decay=0.01,
        apply_decay_param_fun=lambda name: name in decay,
    )
    cost = loss(model)
    cost.backward()
    optimizer.step()
    optimizer.clear_grad()


if __name__ == "__main__":
    main()
