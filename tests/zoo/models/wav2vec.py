"""wav2vec-like: convolutions on samples, masked steps, a Transformer, the right quantized step against wrong ones."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class ConvFeatureExtractor(nn.Layer):
    def __init__(self, layers):
        super().__init__()
        self.conv_layers = nn.LayerList()
        channels = 1
        for i, (dim, kernel, stride) in enumerate(layers):
            norm = nn.GroupNorm(dim, dim) if i == 0 else nn.Identity()
            self.conv_layers.append(
                nn.Sequential(nn.Conv1D(channels, dim, kernel, stride=stride, bias_attr=False), norm, nn.GELU())
            )
            channels = dim

    def forward(self, x):
        x = x.unsqueeze(1)
        for conv in self.conv_layers:
            x = conv(x)
        return x


class Quantizer(nn.Layer):
    """Straight through: the best entry goes on, the gradient is that of the soft choice."""

    def __init__(self, dim, entries, out):
        super().__init__()
        self.weight_proj = nn.Linear(dim, entries)
        self.codevectors = self.create_parameter([entries, out], default_initializer=nn.initializer.Uniform(-1, 1))

    def forward(self, hidden, tau=2.0):
        soft = F.softmax(self.weight_proj(hidden) / tau, axis=-1)
        hard = F.one_hot(soft.argmax(axis=-1), soft.shape[-1]).astype(soft.dtype)
        probs = hard - soft.detach() + soft
        marginal = soft.reshape([-1, soft.shape[-1]]).mean(axis=0)
        perplexity = paddle.exp(-paddle.sum(marginal * paddle.log(marginal + 1e-7)))
        return paddle.matmul(probs, self.codevectors), perplexity


class Wav2Vec2(nn.Layer):
    def __init__(self, dim=8, final=6, entries=10):
        super().__init__()
        self.feature_extractor = ConvFeatureExtractor([(dim, 5, 3), (dim, 3, 2)])
        self.layer_norm = nn.LayerNorm(dim)
        self.mask_emb = self.create_parameter([dim], default_initializer=nn.initializer.Uniform())
        self.pos_conv = nn.Conv1D(dim, dim, 3, padding=1, groups=2)
        layer = nn.TransformerEncoderLayer(dim, 2, 2 * dim, dropout=0.0, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.quantizer = Quantizer(dim, entries, final)
        self.final_proj = nn.Linear(dim, final)
        self.entries = entries

    def forward(self, source, mask, negatives):
        features = self.layer_norm(self.feature_extractor(source).transpose([0, 2, 1]))
        features_pen = features.pow(2).mean()
        x = paddle.where(mask.unsqueeze(-1), self.mask_emb.expand(features.shape), features)
        x = x + F.gelu(self.pos_conv(x.transpose([0, 2, 1]))).transpose([0, 2, 1])
        x = self.final_proj(paddle.masked_select(self.encoder(x), mask.unsqueeze(-1)).reshape([-1, x.shape[-1]]))
        y, perplexity = self.quantizer(
            paddle.masked_select(features, mask.unsqueeze(-1)).reshape([-1, features.shape[-1]])
        )
        negs = paddle.index_select(y, negatives.flatten()).reshape([*negatives.shape, y.shape[-1]])
        targets = paddle.concat([y.unsqueeze(1), negs], axis=1)
        logits = F.cosine_similarity(x.unsqueeze(1), targets, axis=-1) / 0.1
        contrastive = F.cross_entropy(logits, paddle.zeros([logits.shape[0]], dtype="int64"), reduction="sum")
        diversity = (self.entries - perplexity) / self.entries
        return contrastive + 0.1 * diversity + 10 * features_pen


def network():
    return Wav2Vec2()


def loss(net):
    rng = np.random.RandomState(960)
    wave = paddle.to_tensor(rng.randn(2, 50).astype(paddle.get_default_dtype()))
    mask = np.zeros((2, 7), dtype=bool)
    mask[0, 2:5], mask[1, 1:3] = True, True
    wrong = np.array([[j for j in rng.permutation(5) if j != i][:3] for i in range(5)])
    return net(wave, paddle.to_tensor(mask), paddle.to_tensor(wrong))


def build():
    net = network()
    return loss(net), net
