"""Detection in two steps: a pyramid of features, boxes cut out of the level that fits, classes and corners of each."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.vision.ops import distribute_fpn_proposals, roi_align


class FPN(nn.Layer):
    def __init__(self, in_channels, out_channel):
        super().__init__()
        self.lateral_convs, self.fpn_convs = [], []
        for i, channels in enumerate(in_channels):
            lateral = self.add_sublayer(f"fpn_inner_res{i + 2}_sum_lateral", nn.Conv2D(channels, out_channel, 1))
            fpn = self.add_sublayer(f"fpn_res{i + 2}_sum", nn.Conv2D(out_channel, out_channel, 3, padding=1))
            self.lateral_convs.append(lateral)
            self.fpn_convs.append(fpn)

    def forward(self, body_feats):
        laterals = [conv(x) for conv, x in zip(self.lateral_convs, body_feats, strict=True)]
        for i in range(len(laterals) - 1, 0, -1):
            upsample = F.interpolate(laterals[i], scale_factor=2.0, mode="nearest")
            laterals[i - 1] = laterals[i - 1] + upsample
        return [conv(x) for conv, x in zip(self.fpn_convs, laterals, strict=True)]


class RoIAlign(nn.Layer):
    def __init__(self, resolution, scales, start_level=2):
        super().__init__()
        self.resolution, self.scales = resolution, scales
        self.start_level, self.end_level = start_level, start_level + len(scales) - 1

    def forward(self, feats, rois, rois_num):
        levels, restore_index, numbers = distribute_fpn_proposals(
            rois, self.start_level, self.end_level, refer_level=3, refer_scale=14, rois_num=rois_num
        )
        cut = [
            roi_align(feats[i], level, numbers[i], self.resolution, self.scales[i], aligned=True)
            for i, level in enumerate(levels)
        ]
        return paddle.gather(paddle.concat(cut), restore_index)


class BBoxHead(nn.Layer):
    def __init__(self, channels, resolution, num_classes):
        super().__init__()
        self.fc6 = nn.Linear(channels * resolution**2, 10)
        self.fc7 = nn.Linear(10, 10)
        self.bbox_score = nn.Linear(10, num_classes + 1)
        self.bbox_delta = nn.Linear(10, 4 * num_classes)

    def forward(self, rois_feat):
        feat = F.relu(self.fc7(F.relu(self.fc6(paddle.flatten(rois_feat, start_axis=1, stop_axis=-1)))))
        return self.bbox_score(feat), self.bbox_delta(feat)


class FasterRCNN(nn.Layer):
    def __init__(self, num_classes=3):
        super().__init__()
        self.num_classes = num_classes
        self.stage1 = nn.Sequential(nn.Conv2D(3, 6, 3, 2, 1), nn.GroupNorm(2, 6), nn.ReLU())
        self.stage2 = nn.Sequential(nn.Conv2D(6, 8, 3, 2, 1), nn.GroupNorm(2, 8), nn.ReLU())
        self.neck = FPN((6, 8), 6)
        self.roi_extractor = RoIAlign(2, (0.5, 0.25))
        self.head = BBoxHead(6, 2, num_classes)

    def forward(self, images, rois, rois_num):
        c2 = self.stage1(images)
        feats = self.neck([c2, self.stage2(c2)])
        return self.head(self.roi_extractor(feats, rois, rois_num))

    def get_loss(self, scores, deltas, labels, targets):
        loss_cls = F.cross_entropy(scores, labels)
        fg = paddle.nonzero(labels < self.num_classes).flatten()
        deltas = deltas.reshape([-1, self.num_classes, 4])
        index = paddle.stack([fg, paddle.gather(labels, fg)], axis=1)
        difference = paddle.gather_nd(deltas, index) - paddle.gather(targets, fg)
        return loss_cls + paddle.abs(difference).sum() / labels.shape[0]


def network():
    return FasterRCNN()


def loss(net):
    rng = np.random.default_rng(24)
    dtype = paddle.get_default_dtype()
    images = paddle.to_tensor(rng.standard_normal([2, 3, 16, 16]).astype(dtype))
    corners = rng.uniform(0, 7, [6, 2])
    boxes = np.concatenate([corners, corners + rng.uniform(2, 9, [6, 2])], axis=1)
    boxes[::3] = [1.0, 1.0, 15.5, 15.0]
    rois, rois_num = paddle.to_tensor(boxes.astype(dtype)), paddle.to_tensor(np.array([4, 2], "int32"))
    labels = paddle.to_tensor(np.array([0, 3, 1, 2, 3, 0]))
    targets = paddle.to_tensor(rng.standard_normal([6, 4]).astype(dtype))
    scores, deltas = net(images, rois, rois_num)
    return net.get_loss(scores, deltas, labels, targets)


def build():
    net = network()
    return loss(net), net
