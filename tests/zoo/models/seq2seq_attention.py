"""Translation by LSTM encoder and attentive decoder cell: teacher forcing in training, beam search afterwards."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class CrossEntropyCriterion(nn.Layer):
    def forward(self, predict, label, trg_mask):
        cost = F.cross_entropy(input=predict, label=label, reduction="none", soft_label=False)
        cost = paddle.squeeze(cost, axis=[2])
        masked_cost = cost * trg_mask
        batch_mean_cost = paddle.mean(masked_cost, axis=[0])
        return paddle.sum(batch_mean_cost)


class Seq2SeqEncoder(nn.Layer):
    def __init__(self, vocab_size, embed_dim, hidden_size, num_layers):
        super().__init__()
        self.embedder = nn.Embedding(vocab_size, embed_dim)
        self.lstm = nn.LSTM(input_size=embed_dim, hidden_size=hidden_size, num_layers=num_layers)

    def forward(self, sequence, sequence_length):
        return self.lstm(self.embedder(sequence), sequence_length=sequence_length)


class AttentionLayer(nn.Layer):
    def __init__(self, hidden_size):
        super().__init__()
        self.input_proj = nn.Linear(hidden_size, hidden_size)
        self.output_proj = nn.Linear(hidden_size + hidden_size, hidden_size)

    def forward(self, hidden, encoder_output, encoder_padding_mask):
        encoder_output = self.input_proj(encoder_output)
        attn_scores = paddle.matmul(paddle.unsqueeze(hidden, [1]), encoder_output, transpose_y=True)
        if encoder_padding_mask is not None:
            attn_scores = paddle.add(attn_scores, encoder_padding_mask)
        attn_scores = F.softmax(attn_scores)
        attn_out = paddle.squeeze(paddle.matmul(attn_scores, encoder_output), [1])
        attn_out = paddle.concat([attn_out, hidden], 1)
        return self.output_proj(attn_out)


class Seq2SeqDecoderCell(nn.RNNCellBase):
    def __init__(self, num_layers, input_size, hidden_size):
        super().__init__()
        self.attention_layer = AttentionLayer(hidden_size)
        self.lstm_cells = nn.LayerList(
            [
                nn.LSTMCell(input_size=input_size + hidden_size if i == 0 else hidden_size, hidden_size=hidden_size)
                for i in range(num_layers)
            ]
        )

    def forward(self, step_input, states, encoder_output, encoder_padding_mask=None):
        lstm_states, input_feed = states
        new_lstm_states = []
        step_input = paddle.concat([step_input, input_feed], 1)
        for i, lstm_cell in enumerate(self.lstm_cells):
            out, new_lstm_state = lstm_cell(step_input, lstm_states[i])
            step_input = out
            new_lstm_states.append(new_lstm_state)
        out = self.attention_layer(step_input, encoder_output, encoder_padding_mask)
        return out, [new_lstm_states, out]


class Seq2SeqDecoder(nn.Layer):
    def __init__(self, vocab_size, embed_dim, hidden_size, num_layers):
        super().__init__()
        self.embedder = nn.Embedding(vocab_size, embed_dim)
        self.lstm_attention = nn.RNN(Seq2SeqDecoderCell(num_layers, embed_dim, hidden_size))
        self.output_layer = nn.Linear(hidden_size, vocab_size)

    def forward(self, trg, decoder_initial_states, encoder_output, encoder_padding_mask):
        inputs = self.embedder(trg)
        decoder_output, _ = self.lstm_attention(
            inputs,
            initial_states=decoder_initial_states,
            encoder_output=encoder_output,
            encoder_padding_mask=encoder_padding_mask,
        )
        return self.output_layer(decoder_output)


class Seq2SeqAttnModel(nn.Layer):
    def __init__(self, src_vocab_size, trg_vocab_size, embed_dim, hidden_size, num_layers, eos_id=1):
        super().__init__()
        self.hidden_size = hidden_size
        self.eos_id = eos_id
        self.num_layers = num_layers
        self.INF = 1e9
        self.encoder = Seq2SeqEncoder(src_vocab_size, embed_dim, hidden_size, num_layers)
        self.decoder = Seq2SeqDecoder(trg_vocab_size, embed_dim, hidden_size, num_layers)

    def encode(self, src, src_length):
        encoder_output, encoder_final_state = self.encoder(src, src_length)
        # The final states of both tensors have the layers first; the cells want a pair of each layer.
        states = [(encoder_final_state[0][i], encoder_final_state[1][i]) for i in range(self.num_layers)]
        feed = self.decoder.lstm_attention.cell.get_initial_states(batch_ref=encoder_output, shape=[self.hidden_size])
        src_mask = (src != self.eos_id).astype(paddle.get_default_dtype())
        return encoder_output, [states, feed], paddle.unsqueeze((src_mask - 1.0) * self.INF, [1])

    def forward(self, src, src_length, trg):
        encoder_output, states, mask = self.encode(src, src_length)
        return self.decoder(trg, states, encoder_output, mask)


class Seq2SeqAttnInferModel(Seq2SeqAttnModel):
    def __init__(self, *args, bos_id=0, eos_id=1, beam_size=3, max_out_len=6, **kwargs):
        super().__init__(*args, eos_id=eos_id, **kwargs)
        self.beam_size = beam_size
        self.max_out_len = max_out_len
        self.beam_search_decoder = nn.BeamSearchDecoder(
            self.decoder.lstm_attention.cell,
            start_token=bos_id,
            end_token=eos_id,
            beam_size=beam_size,
            embedding_fn=self.decoder.embedder,
            output_fn=self.decoder.output_layer,
        )

    def forward(self, src, src_length):
        encoder_output, states, mask = self.encode(src, src_length)
        # Tile the batch dimension with beam_size
        encoder_output = nn.BeamSearchDecoder.tile_beam_merge_with_batch(encoder_output, self.beam_size)
        mask = nn.BeamSearchDecoder.tile_beam_merge_with_batch(mask, self.beam_size)
        seq_output, _ = nn.dynamic_decode(
            decoder=self.beam_search_decoder,
            inits=states,
            max_step_num=self.max_out_len,
            encoder_output=encoder_output,
            encoder_padding_mask=mask,
        )
        return seq_output


CONFIG = {"src_vocab_size": 18, "trg_vocab_size": 14, "embed_dim": 6, "hidden_size": 8, "num_layers": 2}


def network():
    return Seq2SeqAttnModel(**CONFIG)


def batch():
    rng = np.random.RandomState(5)
    src = rng.randint(2, 18, size=(3, 6)).astype("int64")
    src_length = np.array([6, 5, 4], dtype="int64")
    src[np.arange(6) >= src_length[:, None]] = 1
    trg = rng.randint(2, 14, size=(3, 5)).astype("int64")
    trg[:, 0] = 0
    label = np.concatenate([trg[:, 1:], np.ones((3, 1), dtype="int64")], axis=1)[:, :, None]
    return [paddle.to_tensor(x) for x in (src, src_length, trg, label)]


def loss(net):
    src, src_length, trg, label = batch()
    trg_mask = paddle.ones([3, 5])
    return CrossEntropyCriterion()(net(src, src_length, trg), label, trg_mask)


def translated(net):
    infer = Seq2SeqAttnInferModel(**CONFIG)
    infer.set_state_dict(net.state_dict())
    infer.eval()
    src, src_length, _, _ = batch()
    with paddle.no_grad():
        return infer(src, src_length)


if __name__ == "__main__":
    net = network()
    cost = loss(net)
    cost.backward()
    assert translated(net).shape[0] == 3
