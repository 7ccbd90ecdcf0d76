"""Models of vit_pytorch, x_transformers and other packages of single papers."""

from __future__ import annotations

from collections.abc import Iterator

from .scripts import IMAGES, SCORED, PublicModel, write_script

VIT_PYTORCH = {
    "simple_vit SimpleViT": "image_size=32, patch_size=8, num_classes=10, dim=32, depth=2, heads=2, mlp_dim=64",
    **{
        f"{module} {name}": "image_size=32, patch_size=8, num_classes=10, dim=32, depth=2, heads=2, mlp_dim=64" + more
        for module, name, more in (
            ("vit", "ViT", ""),
            ("deepvit", "DeepViT", ""),
            ("rvt", "RvT", ""),
            ("vit_for_small_dataset", "ViT", ""),
            ("vit_with_patch_merger", "ViT", ", patch_merge_num_tokens=4"),
            ("parallel_vit", "ViT", ", num_parallel_branches=2"),
            ("cait", "CaiT", ", cls_depth=1"),
            ("simple_vit_with_register_tokens", "SimpleViT", ""),
            ("simple_vit_with_qk_norm", "SimpleViT", ""),
            ("simple_vit_with_value_residual", "SimpleViT", ""),
            ("simple_vit_with_patch_dropout", "SimpleViT", ""),
            ("ats_vit", "ViT", ", max_tokens_per_depth=(8, 4)"),
            ("learnable_memory_vit", "ViT", ""),
            ("xcit", "XCiT", ", cls_depth=1"),
        )
    },
    "cct CCT": (
        "img_size=32, embedding_dim=32, n_conv_layers=1, kernel_size=7, stride=2, padding=3, pooling_kernel_size=3, "
        "pooling_stride=2, pooling_padding=1, num_layers=2, num_heads=2, mlp_ratio=2., num_classes=10, "
        "positional_embedding='learnable'"
    ),
    "normalized_vit nViT": "image_size=32, patch_size=8, num_classes=10, dim=32, depth=2, heads=2, mlp_dim=64",
    "local_vit LocalViT": "image_size=32, patch_size=8, num_classes=10, dim=32, depth=2, heads=2, mlp_dim=64",
    "t2t T2TViT": "image_size=32, num_classes=10, dim=32, depth=2, heads=2, mlp_dim=64, t2t_layers=((7, 4), (3, 2))",
}

SEQUENCES = {
    "performer_pytorch PerformerLM": "num_tokens=99, max_seq_len=16, dim=32, depth=2, heads=2, causal=False",
    "linear_attention_transformer LinearAttentionTransformerLM": (
        "num_tokens=99, dim=32, heads=2, depth=2, max_seq_len=16, n_local_attn_heads=1, local_attn_window_size=4"
    ),
    "linformer LinformerLM": "num_tokens=99, dim=32, seq_len=16, depth=2, k=8, heads=2",
    "reformer_pytorch ReformerLM": "num_tokens=99, dim=32, depth=2, max_seq_len=16, heads=2, bucket_size=4, n_hashes=2",
    "routing_transformer RoutingTransformerLM": (
        "num_tokens=99, dim=32, heads=2, depth=2, max_seq_len=16, window_size=4, n_local_attn_heads=1"
    ),
    "sinkhorn_transformer SinkhornTransformerLM": (
        "num_tokens=99, dim=32, heads=2, depth=2, max_seq_len=16, bucket_size=4, causal=False"
    ),
    "g_mlp_pytorch gMLP": "num_tokens=99, dim=32, depth=2, seq_len=16",
    "h_transformer_1d HTransformer1D": "num_tokens=99, dim=32, depth=2, max_seq_len=16, heads=2, block_size=4",
    "minGRU_pytorch minGRULM": "num_tokens=99, dim=32, depth=2",
    "gateloop_transformer Transformer": "num_tokens=99, dim=32, depth=2, use_gate_looped_attn=True",
    "st_moe_pytorch.st_moe_pytorch MoE": "",
    "simple_hierarchical_transformer HierarchicalTransformer": "",
    "block_recurrent_transformer_pytorch BlockRecurrentTransformer": "",
    "titans_pytorch MemoryAsContextTransformer": "num_tokens=99, dim=32, depth=2, segment_len=8",
    "native_sparse_attention_pytorch.transformer Transformer": "",
}


def models_of_sequences() -> Iterator[PublicModel]:
    for names, arguments in VIT_PYTORCH.items():
        module, name = names.split()
        setup = f"net = {name}({arguments})\n" + IMAGES.format(size=32)
        yield write_script(f"vit_pytorch.{module}.{name}", f"from vit_pytorch.{module} import {name}", setup, SCORED)
    for names, arguments in SEQUENCES.items():
        if not arguments:
            continue
        module, name = names.split()
        setup = f"""net = {name}({arguments})
            ids = torch.randint(1, 99, (2, 16))"""
        yield write_script(
            f"{module}.{name}",
            f"from {module} import {name}",
            setup,
            "F.cross_entropy((lambda o: o[0] if isinstance(o, tuple) else o)(net(ids)).transpose(1, 2), ids)",
        )
    for variant, arguments in {
        "plain": "",
        "rotary": ", rotary_pos_emb=True",
        "alibi": ", alibi_pos_bias=True",
        "rmsnorm_glu": ", use_rmsnorm=True, ff_glu=True, ff_swish=True",
        "memory_tokens": ", attn_num_mem_kv=2",
        "one_kv_head": ", attn_one_kv_head=True",
        "talking_heads": ", attn_pre_talking_heads=True",
        "sandwich": ", sandwich_norm=True",
        "gated": ", attn_gate_values=True",
    }.items():
        setup = f"""net = TransformerWrapper(num_tokens=99, max_seq_len=16,
            attn_layers=Decoder(dim=32, depth=2, heads=2{arguments}))
            ids = torch.randint(1, 99, (2, 16))"""
        yield write_script(
            f"x_transformers.{variant}",
            "from x_transformers import TransformerWrapper, Decoder",
            setup,
            "F.cross_entropy(net(ids[:, :-1]).transpose(1, 2), ids[:, 1:])",
        )
    others = {
        "perceiver_pytorch.Perceiver": (
            "from perceiver_pytorch import Perceiver",
            """net = Perceiver(input_channels=3, input_axis=2, num_freq_bands=4, max_freq=8., depth=2, num_latents=8,
            latent_dim=16, cross_heads=1, latent_heads=2, cross_dim_head=8, latent_dim_head=8, num_classes=10)
            x, y = torch.randn(2, 16, 16, 3), torch.randint(0, 10, (2,))""",
            SCORED,
        ),
        "mlp_mixer_pytorch.MLPMixer": (
            "from mlp_mixer_pytorch import MLPMixer",
            "net = MLPMixer(image_size=32, channels=3, patch_size=8, dim=32, depth=2, num_classes=10)\n"
            + IMAGES.format(size=32),
            SCORED,
        ),
        "denoising_diffusion_pytorch.GaussianDiffusion": (
            "from denoising_diffusion_pytorch import Unet, GaussianDiffusion",
            """net = GaussianDiffusion(Unet(dim=16, dim_mults=(1, 2), flash_attn=False), image_size=16, timesteps=50)
            x = torch.rand(2, 3, 16, 16)""",
            "net(x)",
        ),
        "vector_quantize_pytorch.VectorQuantize": (
            "from vector_quantize_pytorch import VectorQuantize",
            """encoder, vq, decoder = nn.Linear(8, 16), VectorQuantize(dim=16, codebook_size=32), nn.Linear(16, 8)
            net = nn.ModuleList([encoder, vq, decoder])
            x = torch.randn(2, 12, 8)
            loss_of = lambda q: F.mse_loss(decoder(q[0]), x) + q[2].sum()""",
            "loss_of(vq(encoder(x)))",
        ),
        "vector_quantize_pytorch.FSQ": (
            "from vector_quantize_pytorch import FSQ",
            """encoder, vq, decoder = nn.Linear(8, 3), FSQ(levels=[8, 5, 5]), nn.Linear(3, 8)
            net = nn.ModuleList([encoder, vq, decoder])
            x = torch.randn(2, 12, 8)""",
            "F.mse_loss(decoder(vq(encoder(x))[0]), x)",
        ),
        "egnn_pytorch.EGNN_Network": (
            "from egnn_pytorch import EGNN_Network",
            """net = EGNN_Network(num_tokens=9, num_positions=16, dim=16, depth=2, num_nearest_neighbors=4)
            ids, at = torch.randint(0, 9, (2, 10)), torch.randn(2, 10, 3)
            loss_of = lambda out: out[0].square().mean() + (out[1] - at - 1).square().mean()""",
            "loss_of(net(ids, at))",
        ),
        "conformer.ConformerBlock": (
            "from conformer import ConformerBlock",
            """net = nn.Sequential(ConformerBlock(dim=32, dim_head=8, heads=2, conv_kernel_size=7), nn.Linear(32, 4))
            x, y = torch.randn(2, 12, 32), torch.randn(2, 12, 4)""",
            "F.mse_loss(net(x), y)",
        ),
        "soft_moe_pytorch.SoftMoE": (
            "from soft_moe_pytorch import SoftMoE",
            """net = nn.Sequential(SoftMoE(dim=32, seq_len=12, num_experts=4), nn.Linear(32, 4))
            x, y = torch.randn(2, 12, 32), torch.randn(2, 12, 4)""",
            "F.mse_loss(net(x), y)",
        ),
        "axial_attention.AxialImageTransformer": (
            "from axial_attention import AxialImageTransformer",
            """net = AxialImageTransformer(dim=16, depth=2, heads=2, reversible=False)
            x, y = torch.randn(2, 16, 8, 8), torch.randn(2, 16, 8, 8)""",
            "F.mse_loss(net(x), y)",
        ),
        "nystrom_attention.Nystromformer": (
            "from nystrom_attention import Nystromformer",
            """net = Nystromformer(dim=32, dim_head=8, heads=2, depth=2, num_landmarks=8, pinv_iterations=3)
            x, y = torch.randn(2, 32, 32), torch.randn(2, 32, 32)""",
            "F.mse_loss(net(x), y)",
        ),
        "lambda_networks.LambdaLayer": (
            "from lambda_networks import LambdaLayer",
            """net = nn.Sequential(LambdaLayer(dim=16, dim_out=16, r=5, dim_k=8, heads=2, dim_u=1), nn.ReLU())
            x, y = torch.randn(2, 16, 8, 8), torch.randn(2, 16, 8, 8)""",
            "F.mse_loss(net(x), y)",
        ),
        "glom_pytorch.Glom": (
            "from glom_pytorch import Glom",
            """net = Glom(dim=32, levels=3, image_size=16, patch_size=4)
            x = torch.randn(2, 3, 16, 16)""",
            "net(x, iters=4)[:, :, -1].square().mean()",
        ),
        "iTransformer.iTransformer": (
            "from iTransformer import iTransformer",
            """net = iTransformer(num_variates=5, lookback_len=16, dim=32, depth=2, heads=2, dim_head=8, pred_length=4)
            x, y = torch.randn(2, 16, 5), torch.randn(2, 4, 5)""",
            "net(x, targets=y)",
        ),
        "tab_transformer_pytorch.FTTransformer": (
            "from tab_transformer_pytorch import FTTransformer",
            """net = FTTransformer(categories=(4, 3), num_continuous=3, dim=16, dim_out=1, depth=2, heads=2)
            c, x, y = torch.randint(0, 3, (8, 2)), torch.randn(8, 3), torch.randint(0, 2, (8, 1)).float()""",
            "F.binary_cross_entropy_with_logits(net(c, x), y)",
        ),
        "byol_pytorch.BYOL": (
            "from byol_pytorch import BYOL; import torchvision",
            """net = BYOL(torchvision.models.resnet18(num_classes=10), image_size=32, hidden_layer='avgpool')
            x = torch.rand(2, 3, 32, 32)""",
            "net(x)",
        ),
        "timesformer_pytorch.TimeSformer": (
            "from timesformer_pytorch import TimeSformer",
            """net = TimeSformer(dim=32, image_size=32, patch_size=16, num_frames=2, num_classes=10, depth=2, heads=2)
            x, y = torch.randn(2, 2, 3, 32, 32), torch.randint(0, 10, (2,))""",
            SCORED,
        ),
    }
    for name, (imports, setup, loss) in others.items():
        yield write_script(name, imports, setup, loss)
    setup = """net = ViT(image_size=32, patch_size=8, num_classes=10, dim=32, depth=2, heads=2, mlp_dim=64)
        mae = MAE(encoder=net, masking_ratio=0.75, decoder_dim=32, decoder_depth=1)
        net = mae
        x = torch.randn(2, 3, 32, 32)"""
    yield write_script("vit_pytorch.MAE", "from vit_pytorch import ViT, MAE", setup, "net(x)")
