"""DeepSpeech-like: convolutions over time and frequency, recurrent layers with norms, CTC over lengths."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class ConvBn(nn.Layer):
    def __init__(self, num_channels_in, num_channels_out, kernel_size, stride, padding):
        super().__init__()
        self.stride, self.kernel_size, self.padding = stride, kernel_size, padding
        self.conv = nn.Conv2D(
            num_channels_in, num_channels_out, kernel_size=kernel_size, stride=stride, padding=padding, bias_attr=False
        )
        self.bn = nn.BatchNorm2D(num_channels_out)
        self.act = nn.Hardtanh(min=0.0, max=24.0)

    def forward(self, x, x_len):
        x = self.act(self.bn(self.conv(x)))
        x_len = (x_len - self.kernel_size[1] + 2 * self.padding[1]) // self.stride[1] + 1
        # What lies behind the end of an utterance counts as silence.
        masks = F.sequence_mask(x_len, maxlen=x.shape[3], dtype=x.dtype)
        return x.multiply(masks.unsqueeze(1).unsqueeze(1)), x_len


class RNNStack(nn.Layer):
    def __init__(self, i_size, h_size, num_stacks):
        super().__init__()
        self.rnns = nn.LayerList()
        self.norms = nn.LayerList()
        for _ in range(num_stacks):
            self.rnns.append(nn.GRU(i_size, h_size, direction="bidirect"))
            self.norms.append(nn.LayerNorm(h_size * 2))
            i_size = h_size * 2

    def forward(self, x, x_len):
        for rnn, norm in zip(self.rnns, self.norms, strict=True):
            x, _ = rnn(x, None, x_len)
            x = norm(x)
        return x


class DeepSpeech2Model(nn.Layer):
    def __init__(self, feat_size, dict_size, rnn_size, num_rnn_layers):
        super().__init__()
        self.conv1 = ConvBn(1, 4, kernel_size=(5, 3), stride=(2, 2), padding=(2, 1))
        self.conv2 = ConvBn(4, 4, kernel_size=(3, 3), stride=(2, 1), padding=(1, 1))
        self.rnn = RNNStack(4 * (feat_size // 4), rnn_size, num_rnn_layers)
        self.ctc_lo = nn.Linear(rnn_size * 2, dict_size + 1)
        self.criterion = nn.CTCLoss(blank=0, reduction="sum")

    def forward(self, audio, audio_len, text, text_len):
        x = audio.transpose([0, 2, 1]).unsqueeze(1)
        x, x_len = self.conv1(x, audio_len)
        x, x_len = self.conv2(x, x_len)
        batch_size, channels, features, length = x.shape
        x = x.transpose([0, 3, 1, 2]).reshape([batch_size, length, channels * features])
        logits = self.ctc_lo(self.rnn(x, x_len))
        loss = self.criterion(logits.transpose([1, 0, 2]), text, x_len, text_len, norm_by_times=False)
        return loss / batch_size


def network():
    return DeepSpeech2Model(feat_size=8, dict_size=6, rnn_size=5, num_rnn_layers=2)


def loss(net):
    rng = np.random.RandomState(16000)
    audio = paddle.to_tensor(rng.randn(2, 16, 8).astype(paddle.get_default_dtype()))
    audio_len = paddle.to_tensor(np.array([16, 12], dtype="int64"))
    text = paddle.to_tensor(np.array([[1, 4, 4], [6, 2, 0]], dtype="int32"))
    text_len = paddle.to_tensor(np.array([3, 2], dtype="int64"))
    return net(audio, audio_len, text, text_len)


if __name__ == "__main__":
    model = network()
    optimizer = paddle.optimizer.Adam(
        learning_rate=5e-4, parameters=model.parameters(), weight_decay=1e-6, grad_clip=nn.ClipGradByGlobalNorm(3.0)
    )
    cost = loss(model)
    cost.backward()
    optimizer.step()
    optimizer.clear_grad()
