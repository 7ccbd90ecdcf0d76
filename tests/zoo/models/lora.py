"""LoRA: the weights of a frozen encoder get products of two narrow matrices, which are trained with norms and head."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class LoRALinear(nn.Linear):
    def __init__(self, in_features, out_features, r=2, lora_alpha=4):
        super().__init__(in_features, out_features)
        self.lora_A = self.create_parameter([in_features, r], default_initializer=nn.initializer.KaimingUniform())
        self.lora_B = self.create_parameter([r, out_features], default_initializer=nn.initializer.Constant(0.0))
        self.scaling = lora_alpha / r
        self.weight.stop_gradient = True
        self.bias.stop_gradient = True

    def forward(self, input):
        return F.linear(input, self.weight, self.bias) + (input @ self.lora_A @ self.lora_B) * self.scaling


def replaced(layer, targets):
    """*layer*, where the linear layers of these names are such as learn narrow updates."""
    for name, child in layer.named_children():
        if isinstance(child, nn.Linear) and name in targets:
            adapted = LoRALinear(*child.weight.shape)
            adapted.weight.set_value(child.weight)
            adapted.bias.set_value(child.bias)
            setattr(layer, name, adapted)
        else:
            replaced(child, targets)
    return layer


class Classifier(nn.Layer):
    def __init__(self, vocab=15, dim=8):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        layer = nn.TransformerEncoderLayer(dim, 2, 12, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(dim, 3)

    def forward(self, ids):
        return self.head(self.encoder(self.embedding(ids)).mean(axis=1))


def network():
    net = Classifier()
    for name, param in net.named_parameters():
        # The norms are trained, too: Paddle's gradient of layer_norm leaves out a scale that is frozen.
        param.stop_gradient = not (name.startswith("head") or "norm" in name)
    return replaced(net, {"q_proj", "v_proj"})


def loss(net):
    rng = np.random.RandomState(0)
    ids = paddle.to_tensor(rng.randint(0, 15, size=(4, 5)))
    return F.cross_entropy(net(ids), paddle.to_tensor(np.array([0, 1, 2, 1])))


if __name__ == "__main__":
    model = network()
    trained = [p for p in model.parameters() if not p.stop_gradient]
    optimizer = paddle.optimizer.AdamW(learning_rate=1e-2, parameters=trained)
    for _ in range(2):
        cost = loss(model)
        cost.backward()
        optimizer.step()
        optimizer.clear_grad()
