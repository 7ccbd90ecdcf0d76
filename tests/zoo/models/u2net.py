"""U²-Net: each stage of a U is a small U itself, and every stage of the way up gives a map with a loss of its own."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class REBNCONV(nn.Layer):
    def __init__(self, in_ch=3, out_ch=3, dirate=1):
        super().__init__()
        self.conv_s1 = nn.Conv2D(in_ch, out_ch, 3, padding=dirate, dilation=dirate)
        self.bn_s1 = nn.BatchNorm2D(out_ch)
        self.relu_s1 = nn.ReLU()

    def forward(self, x):
        return self.relu_s1(self.bn_s1(self.conv_s1(x)))


def upsample_like(src, tar):
    return F.interpolate(src, size=paddle.shape(tar)[2:], mode="bilinear", align_corners=False)


class RSU(nn.Layer):
    """A residual block that is a U: it goes down so many times, widens its windows at the bottom, and goes up again."""

    def __init__(self, height, in_ch, mid_ch, out_ch):
        super().__init__()
        self.rebnconvin = REBNCONV(in_ch, out_ch)
        self.down = nn.LayerList([REBNCONV(out_ch if i == 0 else mid_ch, mid_ch) for i in range(height - 1)])
        self.pool = nn.MaxPool2D(2, stride=2, ceil_mode=True)
        self.bottom = REBNCONV(mid_ch, mid_ch, dirate=2)
        self.up = nn.LayerList([REBNCONV(2 * mid_ch, out_ch if i == 0 else mid_ch) for i in range(height - 1)])

    def forward(self, x):
        hxin = self.rebnconvin(x)
        hx, levels = hxin, []
        for i, down in enumerate(self.down):
            levels.append(down(hx if i == 0 else self.pool(hx)))
            hx = levels[-1]
        hx = self.bottom(hx)
        for level, up in zip(reversed(levels), reversed(self.up), strict=True):
            hx = up(paddle.concat((upsample_like(hx, level), level), 1))
        return hx + hxin


class RSU4F(nn.Layer):
    """The same, with wider windows in place of coarser maps."""

    def __init__(self, in_ch, mid_ch, out_ch):
        super().__init__()
        self.rebnconvin = REBNCONV(in_ch, out_ch)
        self.rebnconv1 = REBNCONV(out_ch, mid_ch)
        self.rebnconv2 = REBNCONV(mid_ch, mid_ch, dirate=2)
        self.rebnconv3 = REBNCONV(mid_ch, mid_ch, dirate=4)
        self.rebnconv4 = REBNCONV(mid_ch, mid_ch, dirate=8)
        self.rebnconv3d = REBNCONV(mid_ch * 2, mid_ch, dirate=4)
        self.rebnconv2d = REBNCONV(mid_ch * 2, mid_ch, dirate=2)
        self.rebnconv1d = REBNCONV(mid_ch * 2, out_ch)

    def forward(self, x):
        hxin = self.rebnconvin(x)
        hx1 = self.rebnconv1(hxin)
        hx2 = self.rebnconv2(hx1)
        hx3 = self.rebnconv3(hx2)
        hx3d = self.rebnconv3d(paddle.concat((self.rebnconv4(hx3), hx3), 1))
        hx2d = self.rebnconv2d(paddle.concat((hx3d, hx2), 1))
        return self.rebnconv1d(paddle.concat((hx2d, hx1), 1)) + hxin


class U2NET(nn.Layer):
    def __init__(self, heights=(3, 2), mid_ch=3, ch=4, out_ch=1):
        super().__init__()
        first = [RSU(height, 3 if i == 0 else ch, mid_ch, ch) for i, height in enumerate(heights)]
        self.stages = nn.LayerList([*first, RSU4F(ch, mid_ch, ch)])
        self.pool = nn.MaxPool2D(2, stride=2, ceil_mode=True)
        self.stages_d = nn.LayerList([RSU(height, 2 * ch, mid_ch, ch) for height in heights])
        self.sides = nn.LayerList([nn.Conv2D(ch, out_ch, 3, padding=1) for _ in range(len(heights) + 1)])
        self.outconv = nn.Conv2D((len(heights) + 1) * out_ch, out_ch, 1)

    def forward(self, x):
        levels = []
        for i, stage in enumerate(self.stages):
            levels.append(stage(x if i == 0 else self.pool(levels[-1])))
        up = [levels.pop()]
        for level, stage in zip(reversed(levels), reversed(self.stages_d), strict=True):
            up.append(stage(paddle.concat((upsample_like(up[-1], level), level), 1)))
        sides = [side(hx) for side, hx in zip(self.sides, reversed(up), strict=True)]
        sides = [sides[0], *(upsample_like(d, sides[0]) for d in sides[1:])]
        d0 = self.outconv(paddle.concat(sides, 1))
        return [F.sigmoid(d) for d in (d0, *sides)]


def muti_bce_loss_fusion(maps, labels):
    return sum(F.binary_cross_entropy(d, labels) for d in maps)


def network():
    return U2NET()


def loss(net):
    rng = np.random.default_rng(33)
    dtype = paddle.get_default_dtype()
    images = paddle.to_tensor(rng.standard_normal([1, 3, 15, 13]).astype(dtype))
    labels = paddle.to_tensor((rng.standard_normal([1, 1, 15, 13]) > 0).astype(dtype))
    return muti_bce_loss_fusion(net(images), labels)


def build():
    net = network()
    return loss(net), net
