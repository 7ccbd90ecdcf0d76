"""CLIP: pictures and texts in one space; each picture is to find its text in the batch, each text its picture."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class QuickGELU(nn.Layer):
    def forward(self, x):
        return x * paddle.nn.functional.sigmoid(1.702 * x)


class ResidualAttentionBlock(nn.Layer):
    def __init__(self, d_model, n_head, attn_mask=None):
        super().__init__()
        self.attn = nn.MultiHeadAttention(d_model, n_head)
        self.ln_1 = nn.LayerNorm(d_model)
        self.mlp = nn.Sequential(
            ("c_fc", nn.Linear(d_model, d_model * 2)),
            ("gelu", QuickGELU()),
            ("c_proj", nn.Linear(d_model * 2, d_model)),
        )
        self.ln_2 = nn.LayerNorm(d_model)
        self.attn_mask = attn_mask

    def attention(self, x):
        return self.attn(x, x, x, attn_mask=self.attn_mask)

    def forward(self, x):
        x = x + self.attention(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Transformer(nn.Layer):
    def __init__(self, width, layers, heads, attn_mask=None):
        super().__init__()
        self.resblocks = nn.Sequential(*[ResidualAttentionBlock(width, heads, attn_mask) for _ in range(layers)])

    def forward(self, x):
        return self.resblocks(x)


class VisualTransformer(nn.Layer):
    def __init__(self, input_resolution=12, patch_size=4, width=8, layers=1, heads=2, output_dim=6):
        super().__init__()
        self.conv1 = nn.Conv2D(3, width, patch_size, patch_size, bias_attr=False)
        scale = width**-0.5
        normal = nn.initializer.Normal(std=scale)
        self.class_embedding = paddle.create_parameter([width], paddle.get_default_dtype(), default_initializer=normal)
        places = (input_resolution // patch_size) ** 2 + 1
        self.positional_embedding = self.create_parameter([places, width], default_initializer=normal)
        self.ln_pre = nn.LayerNorm(width)
        self.transformer = Transformer(width, layers, heads)
        self.ln_post = nn.LayerNorm(width)
        self.proj = self.create_parameter([width, output_dim], default_initializer=normal)

    def forward(self, x):
        x = self.conv1(x)
        x = x.reshape((x.shape[0], x.shape[1], -1)).transpose((0, 2, 1))
        zeros = paddle.zeros((x.shape[0], 1, x.shape[-1]), dtype=x.dtype)
        x = paddle.concat([self.class_embedding + zeros, x], axis=1)
        x = self.transformer(self.ln_pre(x + self.positional_embedding))
        return paddle.matmul(self.ln_post(x[:, 0, :]), self.proj)


class CLIP(nn.Layer):
    def __init__(self, embed_dim=6, context_length=5, vocab_size=20, width=8, layers=2, heads=2):
        super().__init__()
        self.visual = VisualTransformer(output_dim=embed_dim)
        mask = paddle.tensor.triu(paddle.ones([context_length, context_length]) * -1e4, diagonal=1)
        self.transformer = Transformer(width, layers, heads, attn_mask=mask)
        self.token_embedding = nn.Embedding(vocab_size, width)
        self.positional_embedding = nn.Embedding(context_length, width)
        self.ln_final = nn.LayerNorm(width)
        self.text_projection = paddle.create_parameter([width, embed_dim], paddle.get_default_dtype())
        self.logit_scale = self.create_parameter([1], default_initializer=nn.initializer.Constant(np.log(1 / 0.07)))

    def encode_text(self, text):
        x = self.token_embedding(text) + self.positional_embedding(paddle.arange(text.shape[1]))
        x = self.ln_final(self.transformer(x))
        # The last word has the highest number.
        index = paddle.stack([paddle.arange(text.shape[0]), text.argmax(axis=-1)], axis=1)
        return paddle.matmul(x.gather_nd(index), self.text_projection)

    def forward(self, image, text):
        image_features = F.normalize(self.visual(image), p=2, axis=-1)
        text_features = self.encode_text(text)
        text_features = text_features / text_features.norm(axis=-1, keepdim=True)
        logits_per_image = paddle.exp(self.logit_scale) * paddle.matmul(image_features, text_features.t())
        return logits_per_image, logits_per_image.t()


def network():
    return CLIP()


def loss(net):
    rng = np.random.default_rng(19)
    images = paddle.to_tensor(rng.standard_normal([3, 3, 12, 12]).astype(paddle.get_default_dtype()))
    words = rng.integers(1, 19, [3, 5])
    words[np.arange(3), [4, 2, 3]] = 19
    per_image, per_text = net(images, paddle.to_tensor(words))
    labels = paddle.arange(3)
    return (F.cross_entropy(per_image, labels) + F.cross_entropy(per_text, labels)) / 2


def build():
    net = network()
    return loss(net), net
