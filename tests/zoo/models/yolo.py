"""YOLO, version 3: boxes from anchors on two grids; the loss looks for the anchor of each box itself."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

ANCHORS = [[4, 6], [6, 4], [8, 8], [12, 10], [10, 14], [16, 16]]
MASKS = [[3, 4, 5], [0, 1, 2]]


class ConvBNLayer(nn.Layer):
    def __init__(self, ch_in, ch_out, filter_size=3, stride=1):
        super().__init__()
        self.conv = nn.Conv2D(ch_in, ch_out, filter_size, stride, (filter_size - 1) // 2, bias_attr=False)
        self.batch_norm = nn.BatchNorm2D(ch_out)

    def forward(self, inputs):
        return F.leaky_relu(self.batch_norm(self.conv(inputs)), 0.1)


class DarkBlock(nn.Layer):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = ConvBNLayer(channels, channels // 2, 1)
        self.conv2 = ConvBNLayer(channels // 2, channels, 3)

    def forward(self, x):
        return paddle.add(x=x, y=self.conv2(self.conv1(x)))


class YOLOv3(nn.Layer):
    def __init__(self, num_classes=3):
        super().__init__()
        self.num_classes = num_classes
        self.stem = nn.Sequential(ConvBNLayer(3, 4, 3, 2), ConvBNLayer(4, 8, 3, 2), DarkBlock(8))
        self.stage = nn.Sequential(ConvBNLayer(8, 12, 3, 2), DarkBlock(12))
        outputs = 3 * (5 + num_classes)
        self.route = ConvBNLayer(12, 6, 1)
        self.upsample = nn.Upsample(scale_factor=2, mode="nearest")
        self.yolo_output_0 = nn.Conv2D(12, outputs, 1)
        self.yolo_output_1 = nn.Conv2D(14, outputs, 1)

    def forward(self, x):
        fine = self.stem(x)
        coarse = self.stage(fine)
        route = self.upsample(self.route(coarse))
        return [self.yolo_output_0(coarse), self.yolo_output_1(paddle.concat([route, fine], axis=1))]


def targets(boxes, classes, grid, mask, num_classes, size):
    """For each anchor and place of the grid: whether a box is there, where, how large, and of which class."""
    batch = boxes.shape[0]
    objectness = np.zeros([batch, len(mask), grid, grid])
    where = np.zeros([batch, len(mask), grid, grid, 4])
    kinds = np.zeros([batch, len(mask), grid, grid, num_classes])
    anchors = np.array(ANCHORS, dtype="float64") / size
    for b, n in np.ndindex(boxes.shape[:2]):
        x, y, w, h = boxes[b, n]
        inter = np.minimum(w, anchors[:, 0]) * np.minimum(h, anchors[:, 1])
        best = int(np.argmax(inter / (w * h + anchors.prod(1) - inter)))
        if best not in mask:
            continue
        a, j, i = mask.index(best), int(y * grid), int(x * grid)
        objectness[b, a, j, i] = 1
        where[b, a, j, i] = [x * grid - i, y * grid - j, *np.log([w, h] / anchors[best])]
        kinds[b, a, j, i, classes[b, n]] = 1
    return objectness, where, kinds


def level_loss(prediction, boxes, classes, mask, num_classes, size):
    b, _, grid, _ = prediction.shape
    prediction = prediction.reshape([b, len(mask), 5 + num_classes, grid, grid]).transpose([0, 1, 3, 4, 2])
    dtype = prediction.dtype
    objectness, where, kinds = (
        paddle.to_tensor(t).astype(dtype) for t in targets(boxes, classes, grid, mask, num_classes, size)
    )
    xy = F.binary_cross_entropy_with_logits(prediction[..., 0:2], where[..., 0:2], reduction="none").sum(-1)
    wh = F.smooth_l1_loss(prediction[..., 2:4], where[..., 2:4], reduction="none", delta=1.0).sum(-1)
    obj = F.sigmoid_focal_loss(prediction[..., 4], objectness, alpha=0.25, gamma=2.0, reduction="sum")
    cls = F.binary_cross_entropy_with_logits(prediction[..., 5:], kinds, reduction="none").sum(-1)
    return (objectness * (xy + wh + cls)).sum() + obj


def network():
    return YOLOv3()


def loss(net):
    rng = np.random.default_rng(23)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 16, 16]).astype(paddle.get_default_dtype()))
    boxes = np.concatenate([rng.uniform(0.1, 0.9, [2, 4, 2]), rng.uniform(0.2, 0.9, [2, 4, 2])], axis=-1)
    classes = rng.integers(0, 3, [2, 4])
    levels = [
        level_loss(out, boxes, classes, mask, net.num_classes, 16) for out, mask in zip(net(images), MASKS, strict=True)
    ]
    return paddle.add_n(levels) / 2


def build():
    net = network()
    return loss(net), net
