"""Networks in the shape of public ones, as PyTorch exports them: run where torch and onnxruntime are installed.

``PYTHON -m tests.onnx.recording`` writes ``saved/networks.npz``: each model's file, what it is fed, its output by
onnxruntime, and the gradients of the mean squared distance to a label by PyTorch.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from torch import nn
from torch.nn import functional as F

SAVED = Path(__file__).parent / "saved" / "networks.npz"


def image(channels: int = 3, size: int = 16) -> Any:
    return torch.randn(2, channels, size, size)


class Residual(nn.Module):
    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.one = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.norm = nn.BatchNorm2d(outer)
        self.two = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outer)
        self.short = nn.Conv2d(inner, outer, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x: Any) -> Any:
        y = self.norm2(self.two(F.relu(self.norm(self.one(x)))))
        return F.relu(y + self.short(x))


class Inverted(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, 3 * width, 1, bias=False),
            nn.BatchNorm2d(3 * width),
            nn.ReLU6(),
            nn.Conv2d(3 * width, 3 * width, 3, 1, 1, groups=3 * width, bias=False),
            nn.Hardswish(),
            nn.Conv2d(3 * width, width, 1, bias=False),
        )

    def forward(self, x: Any) -> Any:
        return x + self.body(x)


class Excited(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv, self.down, self.up = nn.Conv2d(3, width, 3), nn.Conv2d(width, 2, 1), nn.Conv2d(2, width, 1)

    def forward(self, x: Any) -> Any:
        x = F.silu(self.conv(x))
        return (x * torch.sigmoid(self.up(F.silu(self.down(x.mean((2, 3), keepdim=True)))))).flatten(2).mean(-1)


class Fire(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.squeeze, self.one, self.three = nn.Conv2d(4, 2, 1), nn.Conv2d(2, 3, 1), nn.Conv2d(2, 3, 3, padding=1)

    def forward(self, x: Any) -> Any:
        x = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.one(x)), F.relu(self.three(x))], 1)


class Dense(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(3 + 2 * i, 2, 3, padding=1) for i in range(3))
        self.end = nn.Conv2d(9, 4, 1)

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = torch.cat([x, layer(F.leaky_relu(x))], 1)
        return F.avg_pool2d(self.end(x), 2)


class Unet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 6, 3, padding=1)
        self.up, self.c = nn.ConvTranspose2d(6, 4, 2, 2), nn.Conv2d(8, 2, 3, padding=1)
        self.norm = nn.GroupNorm(2, 4)

    def forward(self, x: Any) -> Any:
        a = F.relu(self.norm(self.a(x)))
        b = F.relu(self.b(F.max_pool2d(a, 2)))
        y = self.c(torch.cat([a, self.up(b)], 1))
        return F.interpolate(y, scale_factor=2.0, mode="bilinear", align_corners=False)


class Block(nn.Module):
    def __init__(self, width: int, causal: bool) -> None:
        super().__init__()
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.causal = causal

    def forward(self, x: Any) -> Any:
        n, t, w = x.shape
        q, k, v = (p.reshape(n, t, 2, w // 2).transpose(1, 2) for p in self.qkv(self.norm(x)).chunk(3, -1))
        scores = q @ k.transpose(-1, -2) / (w // 2) ** 0.5
        if self.causal:
            scores = scores.masked_fill(torch.ones(t, t).triu(1).bool(), float("-inf"))
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, t, w))
        return x + self.narrow(F.gelu(self.wide(self.norm2(x))))


class Words(nn.Module):
    def __init__(self, causal: bool) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(13, 8), nn.Embedding(6, 8)
        self.blocks, self.norm = nn.Sequential(Block(8, causal), Block(8, causal)), nn.LayerNorm(8)

    def forward(self, ids: Any) -> Any:
        x = self.blocks(self.words(ids) + self.places(torch.arange(ids.shape[1])))
        return self.norm(x) @ self.words.weight.t()


class Patches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patch, self.token = nn.Conv2d(3, 8, 4, 4), nn.Parameter(torch.randn(1, 1, 8))
        self.block, self.head = Block(8, False), nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1)
        return self.head(self.block(x)[:, 0])


class Tagger(nn.Module):
    def __init__(self, kind: type) -> None:
        super().__init__()
        self.words = nn.Embedding(13, 5)
        self.layer = kind(5, 4, batch_first=True, bidirectional=True)
        self.head = nn.Linear(8, 3)

    def forward(self, ids: Any) -> Any:
        return F.log_softmax(self.head(self.layer(self.words(ids))[0]), -1)


def networks() -> dict[str, tuple[Any, Any]]:
    """Name -> module and what it is fed."""
    torch.manual_seed(0)
    ids = torch.randint(0, 13, (2, 6))
    lenet = nn.Sequential(
        nn.Conv2d(1, 4, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(4, 6, 5), nn.Tanh(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(24, 10), nn.Sigmoid(), nn.Linear(10, 5),
    )  # fmt: skip
    return {
        "lenet": (lenet, image(1)),
        "resnet": (nn.Sequential(Residual(3, 4, 2), Residual(4, 4, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()), image()),
        "mobilenet": (nn.Sequential(nn.Conv2d(3, 4, 3, 2, 1), Inverted(4), Inverted(4)), image()),
        "efficientnet": (Excited(4), image()),
        "squeezenet": (nn.Sequential(nn.Conv2d(3, 4, 3, 2), nn.MaxPool2d(3, 2, ceil_mode=True), Fire()), image()),
        "densenet": (Dense(), image()),
        "unet": (Unet(), image()),
        "gpt": (Words(True), ids),
        "bert": (Words(False), ids),
        "vit": (Patches(), image()),
        "lstm": (Tagger(nn.LSTM), ids),
        "gru": (Tagger(nn.GRU), ids),
    }


def main() -> None:
    """Write the file."""
    arrays: dict[str, Any] = {}
    for name, (network, x) in networks().items():
        for module in network.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.running_mean.normal_()
                module.running_var.uniform_(0.5, 2)
            for parameter in module.parameters(recurse=False):
                with torch.no_grad():  # equal ones would become one initializer
                    parameter.add_(torch.randn_like(parameter) * 0.1)
        network.eval()
        file = io.BytesIO()
        torch.onnx.export(
            network,
            (x,),
            file,
            dynamo=False,
            opset_version=17,
            input_names=["x"],
            output_names=["y"],
            dynamic_axes={"x": {0: "n"}} if name in ("resnet", "vit") else None,
            do_constant_folding=False,
            training=torch.onnx.TrainingMode.PRESERVE,
        )
        session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])
        (y,) = session.run(None, {"x": x.numpy()})
        label = np.random.default_rng(0).standard_normal(y.shape).astype("float32")
        torch.nn.functional.mse_loss(network(x), torch.from_numpy(label)).backward()
        arrays[f"{name}/model"] = np.frombuffer(file.getvalue(), "uint8")
        arrays |= {f"{name}/x": x.numpy(), f"{name}/y": y, f"{name}/label": label}
        arrays |= {f"{name}/gradient/{n}": p.grad.numpy() for n, p in network.named_parameters() if p.grad is not None}
    np.savez_compressed(SAVED, **arrays)


if __name__ == "__main__":
    main()
