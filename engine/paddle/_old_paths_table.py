"""The table of old paths: a package, modules in it that scripts import from, and whose names these offer."""

from __future__ import annotations

LAYERS = "nn nn.functional"
MP = "distributed.fleet.meta_parallel"

_FLUID: tuple[tuple[str, str, str], ...] = (
    ("", "layer_helper_base", "base.layer_helper"),
    ("", "wrapped_decorator", "base.wrapped_decorator"),
    ("", "log_helper", "_loggers"),
    ("", "input", "fluid"),
    ("", "data", "fluid"),
    ("", "reader", "fluid.io io"),
    ("", "dataloader", "io"),
    ("dataloader", "dataloader_iter collate batch_sampler dataset sampler fetcher worker", "io io.dataloader.collate"),
    ("", "parallel_executor", "fluid"),
    ("", "lod_tensor", "fluid"),
    ("", "average", "fluid.metrics"),
    ("", "evaluator", "fluid.metrics"),
    ("", "install_check", "utils"),
    ("", "profiler", "_profiling"),
    ("", "contrib", ""),
    ("", "compiler", "fluid"),
    ("contrib", "mixed_precision", "static.amp"),
    ("contrib.mixed_precision", "decorator fp16_lists fp16_utils amp_nn", "static.amp"),
    ("contrib", "model_stat", "fluid.contrib"),
    ("contrib", "layers extend_optimizer slim sparsity reader utils", ""),
    ("", "transpiler incubate distributed", ""),
    ("transpiler", "details distribute_transpiler", ""),
    ("incubate", "fleet checkpoint data_generator", ""),
    ("incubate.fleet", "base collective parameter_server utils", "distributed.fleet"),
    ("incubate.fleet.base", "role_maker fleet_base", "distributed.fleet"),
    ("incubate.fleet.utils", "fleet_util hdfs", "distributed.fleet.utils"),
    ("incubate.checkpoint", "auto_checkpoint", ""),
    ("dygraph", "base", "base.dygraph.base"),
    ("dygraph", "nn container layers checkpoint io rnn learning_rate_scheduler", "fluid.dygraph"),
    ("dygraph", "parallel", "fluid.dygraph distributed"),
    ("dygraph", "jit", "fluid.dygraph jit"),
    ("dygraph", "dygraph_to_static", "jit"),
    ("dygraph.dygraph_to_static", "program_translator utils variable_trans_func", "jit"),
    ("dygraph", "layer_object_helper", "base.layer_helper"),
    ("dygraph", "amp", "amp"),
    ("dygraph.amp", "auto_cast loss_scaler", "amp"),
)
"""Below ``paddle.fluid`` and ``paddle.base`` alike."""

ROWS: tuple[tuple[str, str, str], ...] = (
    *(
        (f"{package}.{parent}".rstrip("."), children, homes)
        for package in ("fluid", "base")
        for parent, children, homes in _FLUID
    ),
    # fluid
    ("fluid.layers", "core", "fluid.core"),
    ("fluid.layers", "nn tensor ops loss control_flow metric_op detection sequence_lod io", "fluid.layers"),
    ("fluid.layers", "learning_rate_scheduler", "fluid.layers"),
    ("fluid.layers", "utils", "utils.layers_utils"),
    ("fluid.layers", "rnn", "nn fluid.layers"),
    ("fluid.layers", "distributions", "distribution"),
    ("fluid.layers", "collective", "distributed"),
    ("fluid.layers", "layer_function_generator", "_documenting"),
    ("base", "layers", "fluid.layers"),
    ("base", "libpaddle", "base.core"),
    ("fluid", "libpaddle", "fluid.core"),
    # layers and functions
    (
        "nn.initializer",
        "assign bilinear constant dirac initializer kaiming normal orthogonal uniform xavier",
        "nn.initializer base.initializer",
    ),
    (
        "nn.utils",
        "clip_grad_norm_ clip_grad_value_ spectral_norm_hook transform_parameters weight_norm_hook",
        "nn.utils",
    ),
    (
        "tensor",
        "array attribute creation einsum linalg logic manipulation math ops random search stat to_string",
        "tensor .",
    ),
    # the rest
    ("", "_C_ops _legacy_C_ops", ""),
    ("", "batch", "."),
    ("framework", "core", "base.core"),
    ("framework", "io io_utils framework dtype", "framework . base.framework"),
    (
        "optimizer",
        "adadelta adagrad adam adamax adamw asgd lamb lbfgs momentum nadam optimizer radam rmsprop rprop sgd",
        "optimizer",
    ),
    ("static", "input io program log_helper", "static _loggers"),
    ("static.nn", "common control_flow loss metric sequence_lod static_pylayer", "static.nn static"),
    ("static.amp", "decorator fp16_lists fp16_utils amp_nn debugging", "static.amp"),
    ("jit", "api translated_layer dy2static", "jit"),
    ("jit.dy2static", "program_translator utils convert_operators logging_utils", "jit"),
    ("amp", "auto_cast amp_lists", "amp"),
    ("metric", "metrics", "metric"),
    ("utils", "deprecated install_check lazy_import", "utils"),
    ("utils", "profiler", "_profiling"),
    ("utils", "op_version image_util plot environments inplace_utils flops", ""),
    ("autograd", "autograd functional", "autograd"),
    ("vision", "image", "vision"),
    ("vision.transforms", "functional_cv2 functional_pil functional_tensor", "vision.transforms.functional"),
    ("incubate.autograd", "functional primapi", "incubate.autograd"),
    ("incubate", "tensor operators", "incubate"),
    ("incubate.nn", "layer memory_efficient_attention loss attn_bias", "incubate.nn"),
    ("incubate.nn.layer", "fused_dropout_add fused_linear fused_transformer io", "incubate.nn"),
    (
        "incubate.nn.functional",
        (
            "fused_bias_act fused_dropout_add fused_layer_norm fused_linear fused_matmul_bias fused_rms_norm "
            "fused_rotary_position_embedding fused_transformer swiglu masked_multihead_attention"
        ),
        "incubate.nn.functional",
    ),
    ("incubate.operators", "softmax_mask_fuse softmax_mask_fuse_upper_triangle graph_send_recv unzip", "incubate"),
    ("incubate.tensor", "math manipulation", "incubate"),
    ("incubate", "layers framework asp checkpoint passes xpu hapi", ""),
    ("incubate.layers", "nn", "incubate.layers"),
    ("incubate.framework", "random", "incubate"),
    ("incubate.checkpoint", "auto_checkpoint", ""),
    ("incubate.hapi", "model callbacks", "hapi.callbacks . static"),
    ("incubate.hapi", "metrics", "metric"),
    ("incubate.hapi", "loss", "incubate.hapi"),
    # sound and texts
    ("audio.functional", "window functional", "audio.functional"),
    ("audio.features", "layers", "audio.features"),
    ("audio.backends", "wave_backend init_backend backend", "audio.backends"),
    ("audio.datasets", "dataset esc50 tess", "audio.datasets"),
    ("text", "viterbi_decode", "text"),
    ("text.datasets", "conll05 imdb imikolov movielens uci_housing wmt14 wmt16", "text.datasets"),
    # one process of a training on several devices
    ("distributed", "collective parallel communication parallel_with_gloo", "distributed"),
    ("distributed.communication", "group all_reduce all_gather broadcast stream", "distributed"),
    ("distributed", "sharding", "distributed"),
    ("distributed", "utils", "distributed.utils.log_utils"),
    ("distributed.utils", "log_utils", "_loggers"),
    ("distributed", "launch_utils", ""),
    ("distributed.fleet", "base", "distributed.fleet"),
    (
        "distributed.fleet.base",
        "role_maker topology distributed_strategy fleet_base util_factory",
        "distributed.fleet distributed",
    ),
    ("distributed.fleet", "layers", ""),
    ("distributed.fleet.layers", "mpu", MP),
    ("distributed.fleet.layers.mpu", "random mp_layers mp_ops", MP),
    ("distributed.fleet", "recompute", "distributed.fleet.utils"),
    ("distributed.fleet.recompute", "recompute recompute_hybrid", "distributed.fleet.utils"),
    ("distributed.fleet.utils", "hybrid_parallel_util sequence_parallel_utils", "distributed.fleet.utils._one_process"),
    ("distributed.fleet.utils", "fs mix_precision_utils", "distributed.fleet.utils"),
    ("distributed.fleet.utils", "log_util", "_loggers"),
    ("distributed.fleet.meta_parallel", "parallel_layers", MP),
    ("distributed.fleet.meta_parallel.parallel_layers", "random mp_layers pp_layers", MP),
    ("distributed.fleet", "meta_optimizers", "_program_roles"),
    ("distributed.fleet.meta_optimizers", "common", "_program_roles"),
)
