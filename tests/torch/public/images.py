"""Models of torchvision, timm and segmentation_models_pytorch."""

from __future__ import annotations

from collections.abc import Iterator

from .scripts import IMAGES, SCORED, PublicModel, write_script

TORCHVISION = {
    **dict.fromkeys(
        (
            *("resnet18", "resnext50_32x4d", "squeezenet1_1", "densenet121", "mobilenet_v2", "mobilenet_v3_small"),
            *("shufflenet_v2_x0_5", "mnasnet0_5", "regnet_x_400mf", "efficientnet_b0", "convnext_tiny"),
        ),
        64,
    ),
    **dict.fromkeys(("swin_t", "swin_v2_t"), 64),
}
"""Classifiers by the size of their images."""

TIMM = {
    **dict.fromkeys(
        (
            *("test_byobnet", "test_convnext", "test_convnext2", "test_convnext3", "test_efficientnet"),
            *("test_efficientnet_evos", "test_efficientnet_gn", "test_efficientnet_ln", "test_mambaout"),
            *("test_nfnet", "test_resnet", "resnet10t", "ghostnet_100", "lcnet_035", "tinynet_e", "hardcorenas_a"),
            *("dla34", "rexnet_100", "skresnet18", "gernet_s", "repvgg_a0", "mobileone_s0", "hgnetv2_b0"),
            *("convmixer_768_32", "convnextv2_atto", "edgenext_xx_small", "mobilevit_xxs", "mobilevitv2_050"),
            *("pvt_v2_b0", "poolformerv2_s12", "efficientvit_b0", "fastvit_t8", "mambaout_femto", "repvit_m0_9"),
            *("repghostnet_050", "starnet_s1", "inception_next_atto", "semnasnet_075", "mnasnet_050", "resnest14d"),
            *("eca_nfnet_l0", "cs3darknet_s", "hrnet_w18_small", "swiftformer_xs", "nextvit_small"),
        ),
        64,
    ),
    **dict.fromkeys(("test_vit", "test_vit2", "test_vit3", "test_vit4", "test_vit_relpos", "test_coatnet"), 160),
    **dict.fromkeys(("test_maxvit", "mixer_s32_224", "deit_tiny_patch16_224", "xcit_nano_12_p16_224"), 0),
    **dict.fromkeys(("coat_lite_tiny", "levit_128s", "crossvit_tiny_240", "pit_ti_224", "cait_xxs24_224"), 0),
    **dict.fromkeys(
        ("gmlp_ti16_224", "resmlp_12_224", "twins_svt_small", "visformer_tiny", "tnt_s_legacy_patch16_224"), 0
    ),
    **dict.fromkeys(("eva02_tiny_patch14_224", "gcvit_xxtiny", "hiera_tiny_224", "davit_tiny", "tiny_vit_5m_224"), 0),
    **dict.fromkeys(("sequencer2d_s", "volo_d1_224", "beit_base_patch16_224", "efficientformer_l1", "nest_tiny"), 0),
    **dict.fromkeys(("swin_tiny_patch4_window7_224", "focalnet_tiny_srf", "caformer_s18"), 0),
}
"""Classifiers of timm by the size of their images; 0 for the size that each one has."""


def models_of_images() -> Iterator[PublicModel]:
    for name, size in TORCHVISION.items():
        setup = f"net = torchvision.models.{name}(num_classes=10)\n" + IMAGES.format(size=size)
        yield write_script(f"torchvision.{name}", "import torchvision", setup, SCORED)
    vit = "image_size=32, patch_size=8, num_layers=2, num_heads=2, hidden_dim=32, mlp_dim=64, num_classes=10"
    setup = f"net = torchvision.models.VisionTransformer({vit})\n" + IMAGES.format(size=32)
    yield write_script("torchvision.VisionTransformer", "import torchvision", setup, SCORED)
    setup = "net = torchvision.models.googlenet(num_classes=10, aux_logits=False, init_weights=False)\n"
    yield write_script("torchvision.googlenet", "import torchvision", setup + IMAGES.format(size=64), SCORED)
    for name in ("fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large"):
        setup = f"""net = torchvision.models.segmentation.{name}(weights=None, weights_backbone=None, num_classes=4)
            x, y = torch.randn(2, 3, 64, 64), torch.randint(0, 4, (2, 64, 64))"""
        yield write_script(f"torchvision.{name}", "import torchvision", setup, "F.cross_entropy(net(x)['out'], y)")
    setup = """net = torchvision.models.video.r3d_18(num_classes=10)
        x, y = torch.randn(2, 3, 4, 32, 32), torch.randint(0, 10, (2,))"""
    yield write_script("torchvision.r3d_18", "import torchvision", setup, SCORED)
    setup = """net = torchvision.models.optical_flow.raft_small(weights=None, progress=False)
        a, b, y = torch.rand(1, 3, 128, 128), torch.rand(1, 3, 128, 128), torch.randn(1, 2, 128, 128)"""
    yield write_script(
        "torchvision.raft_small", "import torchvision", setup, "sum((f - y).abs().mean() for f in net(a, b))"
    )
    for name, size in TIMM.items():
        setup = f"net = timm.create_model('{name}', num_classes=10)\n" + IMAGES.format(
            size=size or "*net.default_cfg['input_size'][1:]"
        ).replace(", *net.default_cfg['input_size'][1:])", ")", 1)
        yield write_script(f"timm.{name}", "import timm", setup, SCORED)
    for name in ("Unet", "UnetPlusPlus", "FPN", "PSPNet", "Linknet", "DeepLabV3Plus", "MAnet", "PAN", "Segformer"):
        setup = f"""net = smp.{name}("resnet18", encoder_weights=None, classes=4)
            x, y = torch.randn(2, 3, 64, 64), torch.randint(0, 4, (2, 64, 64))"""
        yield write_script(f"smp.{name}", "import segmentation_models_pytorch as smp", setup, SCORED)
