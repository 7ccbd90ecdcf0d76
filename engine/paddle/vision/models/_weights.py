"""Weights that others trained: which file holds those of a network, and reading it from where Paddle keeps it."""

from __future__ import annotations

from typing import Any, TypeVar

from gradtool import paddle
from gradtool.engine.core.errors import UsageError
from gradtool.paddle.nn.layer import Layer
from gradtool.paddle.utils.download import get_weights_path_from_url

Net = TypeVar("Net", bound=Layer)


class NoWeights(UsageError, AssertionError):
    """Nobody published weights of that network (Paddle raises AssertionError)."""


HAPI = "https://paddle-hapi.bj.bcebos.com/models/"
DYGRAPH = "https://paddle-imagenet-models-name.bj.bcebos.com/dygraph/"

FILES: dict[str, tuple[str, str]] = {
    "alexnet": (f"{DYGRAPH}AlexNet_pretrained", "7f0f9f737132e02732d75a1459d98a43"),
    "densenet121": (f"{DYGRAPH}DenseNet121_pretrained", "db1b239ed80a905290fd8b01d3af08e4"),
    "densenet161": (f"{DYGRAPH}DenseNet161_pretrained", "62158869cb315098bd25ddbfd308a853"),
    "densenet169": (f"{DYGRAPH}DenseNet169_pretrained", "82cc7c635c3f19098c748850efb2d796"),
    "densenet201": (f"{DYGRAPH}DenseNet201_pretrained", "16ca29565a7712329cf9e36e02caaf58"),
    "densenet264": (f"{DYGRAPH}DenseNet264_pretrained", "3270ce516b85370bba88cfdd9f60bff4"),
    "googlenet": (f"{DYGRAPH}GoogLeNet_pretrained", "80c06f038e905c53ab32c40eca6e26ae"),
    "inception_v3": (f"{HAPI}inception_v3", "649a4547c3243e8b59c656f41fe330b8"),
    "mobilenetv1_1.0": (f"{HAPI}mobilenetv1_1.0", "3033ab1975b1670bef51545feb65fc45"),
    "mobilenetv2_1.0": (f"{HAPI}mobilenet_v2_x1.0", "0340af0a901346c8d46f4529882fb63d"),
    "mobilenet_v3_large_x1.0": (f"{HAPI}mobilenet_v3_large_x1.0", "118db5792b4e183b925d8e8e334db3df"),
    "mobilenet_v3_small_x1.0": (f"{HAPI}mobilenet_v3_small_x1.0", "34fe0e7c1f8b00b2b056ad6788d0590c"),
    "resnet18": (f"{HAPI}resnet18", "cf548f46534aa3560945be4b95cd11c4"),
    "resnet34": (f"{HAPI}resnet34", "8d2275cf8706028345f78ac0e1d31969"),
    "resnet50": (f"{HAPI}resnet50", "ca6f485ee1ab0492d38f323885b0ad80"),
    "resnet101": (f"{HAPI}resnet101", "02f35f034ca3858e1e54d4036443c92d"),
    "resnet152": (f"{HAPI}resnet152", "7ad16a2f1e7333859ff986138630fd7a"),
    "resnext50_32x4d": (f"{HAPI}resnext50_32x4d", "dc47483169be7d6f018fcbb7baf8775d"),
    "resnext50_64x4d": (f"{HAPI}resnext50_64x4d", "063d4b483e12b06388529450ad7576db"),
    "resnext101_32x4d": (f"{HAPI}resnext101_32x4d", "967b090039f9de2c8d06fe994fb9095f"),
    "resnext101_64x4d": (f"{HAPI}resnext101_64x4d", "98e04e7ca616a066699230d769d03008"),
    "resnext152_32x4d": (f"{HAPI}resnext152_32x4d", "18ff0beee21f2efc99c4b31786107121"),
    "resnext152_64x4d": (f"{HAPI}resnext152_64x4d", "77c4af00ca42c405fa7f841841959379"),
    "shufflenet_v2_swish": (f"{HAPI}shufflenet_v2_swish", "adde0aa3b023e5b0c94a68be1c394b84"),
    "shufflenet_v2_x0_25": (f"{HAPI}shufflenet_v2_x0_25", "1e509b4c140eeb096bb16e214796d03b"),
    "shufflenet_v2_x0_33": (f"{HAPI}shufflenet_v2_x0_33", "3d7b3ab0eaa5c0927ff1026d31b729bd"),
    "shufflenet_v2_x0_5": (f"{HAPI}shufflenet_v2_x0_5", "5e5cee182a7793c4e4c73949b1a71bd4"),
    "shufflenet_v2_x1_0": (f"{HAPI}shufflenet_v2_x1_0", "122d42478b9e81eb49f8a9ede327b1a4"),
    "shufflenet_v2_x1_5": (f"{HAPI}shufflenet_v2_x1_5", "faced5827380d73531d0ee027c67826d"),
    "shufflenet_v2_x2_0": (f"{HAPI}shufflenet_v2_x2_0", "cd3dddcd8305e7bcd8ad14d1c69a5784"),
    "squeezenet1_0": (f"{DYGRAPH}SqueezeNet1_0_pretrained", "30b95af60a2178f03cf9b66cd77e1db1"),
    "squeezenet1_1": (f"{DYGRAPH}SqueezeNet1_1_pretrained", "a11250d3a1f91d7131fd095ebbf09eee"),
    "vgg16": (f"{HAPI}vgg16", "89bbffc0f87d260be9b8cdc169c991c4"),
    "vgg19": (f"{HAPI}vgg19", "23b18bb13d8894f60f54e642be79a0dd"),
    "wide_resnet50_2": (f"{HAPI}wide_resnet50_2", "0282f804d73debdab289bd9fea3fa6dc"),
    "wide_resnet101_2": (f"{HAPI}wide_resnet101_2", "d4360a2d23657f059216f5d5a1a9ac93"),
}
"""Where the weights of a network were published, and the MD5 sum of the file."""


def weighted(net: Net, name: str, pretrained: Any) -> Net:
    """*net*, with the published weights of the network *name* if *pretrained* asks for them.

    Raises:
        NoWeights: there are none (an AssertionError).
        FileMissing: the file is not where Paddle would have put it; the message names the place and the address (a
            FileNotFoundError).
        ChecksumError: another file lies there (a RuntimeError).
    """
    if not pretrained:
        return net
    if name not in FILES:
        raise NoWeights(f"{name} model do not have a pretrained model now, you should set pretrained=False")
    address, md5 = FILES[name]
    net.set_state_dict(paddle.load(get_weights_path_from_url(f"{address}.pdparams", md5)))
    return net
