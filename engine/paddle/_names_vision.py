"""The table of public names of ``paddle.vision``: read when one of its packages is asked."""

from __future__ import annotations

from ._lazy import provide

MODELS: dict[str, str] = {
    "alexnet": "AlexNet alexnet",
    "densenet": "DenseNet densenet121 densenet161 densenet169 densenet201 densenet264",
    "googlenet": "GoogLeNet googlenet",
    "inceptionv3": "InceptionV3 inception_v3",
    "lenet": "LeNet",
    "mobilenetv1": "MobileNetV1 mobilenet_v1",
    "mobilenetv2": "MobileNetV2 mobilenet_v2",
    "mobilenetv3": "MobileNetV3Large MobileNetV3Small mobilenet_v3_large mobilenet_v3_small",
    "resnet": (
        "ResNet resnet101 resnet152 resnet18 resnet34 resnet50 resnext101_32x4d resnext101_64x4d resnext152_32x4d "
        "resnext152_64x4d resnext50_32x4d resnext50_64x4d wide_resnet101_2 wide_resnet50_2"
    ),
    "shufflenetv2": (
        "ShuffleNetV2 shufflenet_v2_swish shufflenet_v2_x0_25 shufflenet_v2_x0_33 shufflenet_v2_x0_5 "
        "shufflenet_v2_x1_0 shufflenet_v2_x1_5 shufflenet_v2_x2_0"
    ),
    "squeezenet": "SqueezeNet squeezenet1_0 squeezenet1_1",
    "vgg": "VGG vgg11 vgg13 vgg16 vgg19",
}
"""File of ``paddle.vision.models`` -> the names in it, which are those of the package, and of ``paddle.vision``."""

for _file, _names in MODELS.items():
    provide("gradtool.paddle.vision.models", f"gradtool.paddle.vision.models.{_file}", _names)
    provide("gradtool.paddle.vision", f"gradtool.paddle.vision.models.{_file}", _names)

OPS: dict[str, str] = {
    "_boxes": "box_coder prior_box yolo_box yolo_loss",
    "_choosing": "distribute_fpn_proposals generate_proposals matrix_nms nms",
    "_deformable": "DeformConv2D deform_conv2d",
    "_files": "decode_jpeg read_file",
    "_layers": "ConvNormActivation",
    "_regions": "PSRoIPool RoIAlign RoIPool psroi_pool roi_align roi_pool",
}
"""File of ``paddle.vision.ops`` -> the names in it."""

for _file, _names in OPS.items():
    provide("gradtool.paddle.vision.ops", f"gradtool.paddle.vision.ops.{_file}", _names)

TRANSFORMS: dict[str, str] = {
    "functional": (
        "adjust_brightness adjust_contrast adjust_hue affine center_crop crop erase hflip normalize pad perspective "
        "resize rotate to_grayscale to_tensor vflip"
    ),
    "transforms": (
        "BaseTransform BrightnessTransform CenterCrop ColorJitter Compose ContrastTransform Grayscale HueTransform "
        "Normalize Pad RandomAffine RandomCrop RandomErasing RandomHorizontalFlip RandomPerspective RandomResizedCrop "
        "RandomRotation RandomVerticalFlip Resize SaturationTransform ToTensor Transpose"
    ),
}
"""File of ``paddle.vision.transforms`` -> the names in it, which are those of the package."""

NOT_ABOVE = {"RandomAffine", "RandomErasing", "RandomPerspective", "affine", "erase", "perspective"}
"""Names of transforms that ``paddle.vision`` itself does not have."""

for _file, _names in TRANSFORMS.items():
    _home = f"gradtool.paddle.vision.transforms.{_file}"
    provide("gradtool.paddle.vision.transforms", _home, _names)
    provide("gradtool.paddle.vision", _home, " ".join(n for n in _names.split() if n not in NOT_ABOVE))

DATASETS: dict[str, str] = {
    "cifar": "Cifar10 Cifar100",
    "flowers": "Flowers",
    "folder": "DatasetFolder ImageFolder",
    "mnist": "FashionMNIST MNIST",
    "voc2012": "VOC2012",
}
"""File of ``paddle.vision.datasets`` -> the names in it, which are those of the package, and of ``paddle.vision``."""

for _file, _names in DATASETS.items():
    provide("gradtool.paddle.vision.datasets", f"gradtool.paddle.vision.datasets.{_file}", _names)
    provide("gradtool.paddle.vision", f"gradtool.paddle.vision.datasets.{_file}", _names)

provide("gradtool.paddle.vision", "gradtool.paddle.vision.image", "get_image_backend image_load set_image_backend")
