"""Models of transformers, peft and diffusers."""

from __future__ import annotations

from collections.abc import Iterator

from .scripts import IMAGES, PublicModel, write_script

SMALL = "vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64"
GROUPED = f"{SMALL}, num_key_value_heads=2"

LANGUAGE = {
    **{f"{n}ForCausalLM {n}Config": GROUPED for n in ("Llama", "Mistral", "Qwen2", "StableLm", "Cohere", "Olmo")},
    **{f"{n}ForCausalLM {n}Config": f"{GROUPED}, head_dim=8" for n in ("Gemma", "Gemma2", "Qwen3", "Granite")},
    "PhiForCausalLM PhiConfig": SMALL,
    "Phi3ForCausalLM Phi3Config": f"{GROUPED}, pad_token_id=0",
    "GPTNeoXForCausalLM GPTNeoXConfig": SMALL,
    "MixtralForCausalLM MixtralConfig": f"{GROUPED}, num_local_experts=4",
    "GPT2LMHeadModel GPT2Config": "vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64",
    "GPTJForCausalLM GPTJConfig": "vocab_size=99, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, n_positions=64",
    "GPTNeoForCausalLM GPTNeoConfig": (
        "vocab_size=99, hidden_size=32, num_layers=2, num_heads=4, attention_types=[[['global', 'local'], 1]]"
    ),
    "OPTForCausalLM OPTConfig": (
        "vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=64, word_embed_proj_dim=32"
    ),
    "BloomForCausalLM BloomConfig": "vocab_size=99, hidden_size=32, n_layer=2, n_head=4",
    "FalconForCausalLM FalconConfig": "vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4",
    "MambaForCausalLM MambaConfig": "vocab_size=99, hidden_size=32, num_hidden_layers=2, state_size=8",
    "CodeGenForCausalLM CodeGenConfig": "vocab_size=99, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, n_positions=64",
    "BertForMaskedLM BertConfig": SMALL,
    "RobertaForMaskedLM RobertaConfig": SMALL,
    "ElectraForMaskedLM ElectraConfig": SMALL,
    "DebertaV2ForMaskedLM DebertaV2Config": f"{SMALL}, relative_attention=True, pos_att_type=['c2p', 'p2c']",
    "DistilBertForMaskedLM DistilBertConfig": "vocab_size=99, dim=32, n_layers=2, n_heads=4, hidden_dim=64",
    "AlbertForMaskedLM AlbertConfig": f"{SMALL}, embedding_size=16",
    "MobileBertForMaskedLM MobileBertConfig": (
        f"{SMALL}, embedding_size=16, true_hidden_size=32, intra_bottleneck_size=32"
    ),
    "ConvBertForMaskedLM ConvBertConfig": f"{SMALL}, embedding_size=32",
    "FNetForMaskedLM FNetConfig": "vocab_size=99, hidden_size=32, num_hidden_layers=2, intermediate_size=64",
    "LongformerForMaskedLM LongformerConfig": f"{SMALL}, attention_window=4, max_position_embeddings=64",
    "BigBirdForMaskedLM BigBirdConfig": f"{SMALL}, attention_type='original_full'",
    "FunnelForMaskedLM FunnelConfig": "vocab_size=99, block_sizes=[1, 1], d_model=32, n_head=4, d_head=8, d_inner=64",
    "MPNetForMaskedLM MPNetConfig": SMALL,
    "XLNetLMHeadModel XLNetConfig": "vocab_size=99, d_model=32, n_layer=2, n_head=4, d_inner=64",
    "T5ForConditionalGeneration T5Config": (
        "vocab_size=99, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0"
    ),
    **{
        f"{n}ForConditionalGeneration {n}Config": (
            "vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, "
            "decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=64"
        )
        for n in ("Bart", "Pegasus", "MBart", "Blenderbot", "M2M100")
    },
}
"""Language models: class and configuration, and what the configuration is given."""

VIT = "image_size=32, patch_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64"

OF_IMAGES = {
    **{f"{n}ForImageClassification {n}Config": VIT for n in ("ViT", "DeiT", "Beit")},
    "SwinForImageClassification SwinConfig": (
        "image_size=32, patch_size=4, embed_dim=16, depths=[1, 1], num_heads=[2, 2], window_size=4"
    ),
    "ConvNextForImageClassification ConvNextConfig": "hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1]",
    "ResNetForImageClassification ResNetConfig": (
        "embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type='basic'"
    ),
    "SegformerForImageClassification SegformerConfig": (
        "hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1], num_attention_heads=[1, 1, 2, 2], decoder_hidden_size=16"
    ),
    "PoolFormerForImageClassification PoolFormerConfig": "hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1]",
    "MobileNetV1ForImageClassification MobileNetV1Config": "depth_multiplier=0.25",
    "RegNetForImageClassification RegNetConfig": (
        "embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], groups_width=8"
    ),
}


def models_of_transformers() -> Iterator[PublicModel]:
    for names, arguments in LANGUAGE.items():
        model, config = names.split()
        setup = f"""net = {model}({config}({arguments}))
            ids, hidden = torch.randint(2, 99, (2, 12)), torch.arange(12) % 4 == 1"""
        masked = "input_ids=ids.masked_fill(hidden, 1), labels=ids.masked_fill(~hidden, -100)"
        yield write_script(
            f"transformers.{model}",
            f"from transformers import {model}, {config}",
            setup,
            f"net({masked if 'MaskedLM' in model or 'XLNet' in model else 'input_ids=ids, labels=ids'}).loss",
        )
    for names, arguments in OF_IMAGES.items():
        model, config = names.split()
        setup = f"net = {model}({config}({arguments}, num_labels=10))\n" + IMAGES.format(
            size=32 if "image_size" in arguments else 96
        )
        yield write_script(
            f"transformers.{model}",
            f"from transformers import {model}, {config}",
            setup,
            "net(pixel_values=x, labels=y).loss",
        )
    setup = f"""text = dict({SMALL.replace("=99", "=99, eos_token_id=98")})
        vision = dict({VIT})
        net = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=16))
        ids, x = torch.randint(1, 99, (2, 12)), torch.randn(2, 3, 32, 32)"""
    yield write_script(
        "transformers.CLIPModel",
        "from transformers import CLIPModel, CLIPConfig",
        setup,
        "net(input_ids=ids, pixel_values=x, return_loss=True).loss",
    )
    speech = "hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=20"
    speech += ", conv_dim=[16, 16], conv_stride=[5, 4], conv_kernel=[10, 8], num_conv_pos_embeddings=8"
    speech += ", num_conv_pos_embedding_groups=4, mask_time_length=2"
    for name in ("Wav2Vec2", "Hubert"):
        setup = f"""net = {name}ForCTC({name}Config({speech}))
            x, y = torch.randn(2, 800), torch.randint(1, 20, (2, 5))"""
        yield write_script(
            f"transformers.{name}ForCTC",
            f"from transformers import {name}ForCTC, {name}Config",
            setup,
            "net(input_values=x, labels=y).loss",
        )
    whisper = "vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, "
    whisper += "decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_source_positions=20, "
    whisper += "num_mel_bins=8, decoder_start_token_id=0, pad_token_id=0, bos_token_id=1, eos_token_id=2"
    setup = f"""net = WhisperForConditionalGeneration(WhisperConfig({whisper}))
        x, y = torch.randn(2, 8, 40), torch.randint(3, 99, (2, 6))"""
    yield write_script(
        "transformers.WhisperForConditionalGeneration",
        "from transformers import WhisperForConditionalGeneration, WhisperConfig",
        setup,
        "net(input_features=x, labels=y).loss",
    )
    setup = """net = PatchTSTForPrediction(PatchTSTConfig(num_input_channels=2, context_length=32, patch_length=8,
        patch_stride=8, prediction_length=8, d_model=16, num_attention_heads=2, num_hidden_layers=2, ffn_dim=32))
        x, y = torch.randn(2, 32, 2), torch.randn(2, 8, 2)"""
    yield write_script(
        "transformers.PatchTSTForPrediction",
        "from transformers import PatchTSTForPrediction, PatchTSTConfig",
        setup,
        "net(past_values=x, future_values=y).loss",
    )


def models_of_peft() -> Iterator[PublicModel]:
    tuners = {
        "LoraConfig": "LoraConfig(task_type='CAUSAL_LM', r=4, target_modules=['q_proj', 'v_proj'])",
        "LoraConfig.use_dora": "LoraConfig(task_type='CAUSAL_LM', r=4, target_modules=['q_proj'], use_dora=True)",
        "IA3Config": (
            "IA3Config(task_type='CAUSAL_LM', target_modules=['k_proj', 'down_proj'], "
            "feedforward_modules=['down_proj'])"
        ),
        "PromptTuningConfig": "PromptTuningConfig(task_type='CAUSAL_LM', num_virtual_tokens=4)",
        "PrefixTuningConfig": "PrefixTuningConfig(task_type='CAUSAL_LM', num_virtual_tokens=4)",
        "LoHaConfig": "LoHaConfig(task_type='CAUSAL_LM', r=4, target_modules=['q_proj', 'v_proj'])",
        "OFTConfig": "OFTConfig(task_type='CAUSAL_LM', oft_block_size=4, r=0, target_modules=['q_proj'])",
    }
    for name, text in tuners.items():
        setup = f"""base = LlamaForCausalLM(LlamaConfig({GROUPED}))
            net = get_peft_model(base, {text})
            ids = torch.randint(1, 99, (2, 12))"""
        yield write_script(
            f"peft.{name}",
            f"from peft import get_peft_model, {text.partition('(')[0]}; "
            "from transformers import LlamaForCausalLM, LlamaConfig",
            setup,
            "net(input_ids=ids, labels=ids).loss",
        )


def models_of_diffusers() -> Iterator[PublicModel]:
    pictures = "x, noise = torch.randn(2, 3, 16, 16), torch.randn(2, 3, 16, 16)\nt = torch.randint(0, 100, (2,))"
    blocks = "sample_size=16, block_out_channels=(32, 32), layers_per_block=1, norm_num_groups=8"
    setup = f"""net = UNet2DModel({blocks}, attention_head_dim=8,
        down_block_types=('DownBlock2D', 'AttnDownBlock2D'), up_block_types=('AttnUpBlock2D', 'UpBlock2D'))
        {pictures}"""
    yield write_script(
        "diffusers.UNet2DModel", "from diffusers import UNet2DModel", setup, "F.mse_loss(net(x, t).sample, noise)"
    )
    setup = f"""net = UNet2DConditionModel({blocks}, in_channels=3, out_channels=3, cross_attention_dim=16,
        attention_head_dim=8, down_block_types=('DownBlock2D', 'CrossAttnDownBlock2D'),
        up_block_types=('CrossAttnUpBlock2D', 'UpBlock2D'))
        {pictures}
        text = torch.randn(2, 6, 16)"""
    yield write_script(
        "diffusers.UNet2DConditionModel",
        "from diffusers import UNet2DConditionModel",
        setup,
        "F.mse_loss(net(x, t, text).sample, noise)",
    )
    setup = """net = AutoencoderKL(block_out_channels=(16, 16), down_block_types=('DownEncoderBlock2D',) * 2,
        up_block_types=('UpDecoderBlock2D',) * 2, norm_num_groups=8, sample_size=16)
        x = torch.randn(2, 3, 16, 16)
        def loss_of(posterior):
            return F.mse_loss(net.decode(posterior.sample()).sample, x) + 1e-3 * posterior.kl().mean()"""
    yield write_script(
        "diffusers.AutoencoderKL",
        "from diffusers import AutoencoderKL",
        setup.replace("def loss_of(posterior):\n            return", "loss_of = lambda posterior:"),
        "loss_of(net.encode(x).latent_dist)",
    )
    setup = f"""net = DiTTransformer2DModel(num_attention_heads=2, attention_head_dim=8, in_channels=3, out_channels=3,
        num_layers=2, sample_size=16, norm_num_groups=8, num_embeds_ada_norm=100)
        {pictures}
        y = torch.randint(0, 10, (2,))"""
    yield write_script(
        "diffusers.DiTTransformer2DModel",
        "from diffusers import DiTTransformer2DModel",
        setup,
        "F.mse_loss(net(x, t, y).sample, noise)",
    )
