"""The table of public names in modules that Paddle defines them in and that scripts import them from."""

from __future__ import annotations

from ._absent import DEVICES
from ._lazy import announce, provide, provide_all

LAYERS: dict[str, str] = {
    "activation": (
        "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Maxout Mish "
        "PReLU RReLU ReLU ReLU6 SELU Sigmoid Silu Softmax Softmax2D Softplus Softshrink Softsign Swish Tanh "
        "Tanhshrink ThresholdedReLU"
    ),
    "common": (
        "AlphaDropout Bilinear CircularPad1D CircularPad2D CircularPad3D ConstantPad1D ConstantPad2D "
        "ConstantPad3D CosineSimilarity Dropout Dropout2D Dropout3D Embedding FeatureAlphaDropout Flatten Fold "
        "Identity Linear Pad1D Pad2D Pad3D ReflectionPad1D ReflectionPad2D ReflectionPad3D ReplicationPad1D "
        "ReplicationPad2D ReplicationPad3D Unflatten Unfold Upsample UpsamplingBilinear2D UpsamplingNearest2D "
        "ZeroPad1D ZeroPad2D ZeroPad3D"
    ),
    "container": "LayerDict LayerList ParameterDict ParameterList Sequential",
    "conv": "Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose",
    "distance": "PairwiseDistance",
    "layers": "Layer",
    "loss": (
        "AdaptiveLogSoftmaxWithLoss BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss "
        "GaussianNLLLoss HSigmoidLoss HingeEmbeddingLoss KLDivLoss L1Loss MSELoss MarginRankingLoss "
        "MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PoissonNLLLoss RNNTLoss "
        "SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss"
    ),
    "norm": (
        "BatchNorm BatchNorm1D BatchNorm2D BatchNorm3D GroupNorm InstanceNorm1D InstanceNorm2D InstanceNorm3D "
        "LayerNorm LocalResponseNorm SpectralNorm SyncBatchNorm"
    ),
    "pooling": (
        "AdaptiveAvgPool1D AdaptiveAvgPool2D AdaptiveAvgPool3D AdaptiveMaxPool1D AdaptiveMaxPool2D "
        "AdaptiveMaxPool3D AvgPool1D AvgPool2D AvgPool3D FractionalMaxPool2D FractionalMaxPool3D LPPool1D "
        "LPPool2D MaxPool1D MaxPool2D MaxPool3D MaxUnPool1D MaxUnPool2D MaxUnPool3D"
    ),
    "rnn": "BiRNN GRU GRUCell LSTM LSTMCell RNN RNNCellBase SimpleRNN SimpleRNNCell",
    "transformer": (
        "MultiHeadAttention Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder "
        "TransformerEncoderLayer"
    ),
    "vision": "ChannelShuffle PixelShuffle PixelUnshuffle",
}
"""Module of ``paddle.nn.layer`` -> the layers in it, which are those of ``paddle.nn``."""

provide_all(
    *[(f"gradtool.paddle.nn.layer.{_module}", "gradtool.paddle.nn", _names) for _module, _names in LAYERS.items()]
)
provide("gradtool.paddle.nn.layer", "gradtool.paddle.nn", " ".join(LAYERS.values()))

provide("gradtool.paddle.nn.decode", "gradtool.paddle.nn", "BeamSearchDecoder dynamic_decode")
provide("gradtool.paddle.nn", "gradtool.paddle.nn.layer", "loss")  # a module, which is reached by this way, too
provide("gradtool.paddle.nn.layer.rnn", "gradtool.paddle.nn._recurrent_networks", "RNNBase birnn rnn")
provide("gradtool.paddle.nn.layer.layers", "gradtool.paddle._legacy_modes", "in_declarative_mode in_to_static_mode")

FUNCTIONS: dict[str, str] = {
    "activation": (
        "celu elu elu_ glu gumbel_softmax hardshrink hardsigmoid hardswish hardtanh hardtanh_ leaky_relu leaky_relu_ "
        "log_sigmoid log_softmax maxout mish prelu relu relu6 relu_ rrelu selu sigmoid silu softmax softmax_ softplus "
        "softshrink softsign swiglu swish tanh tanhshrink thresholded_relu thresholded_relu_"
    ),
    "common": (
        "alpha_dropout bilinear class_center_sample cosine_similarity dropout dropout1d dropout2d dropout3d "
        "feature_alpha_dropout fold interpolate label_smooth linear pad unfold upsample zeropad2d"
    ),
    "conv": "conv1d conv1d_transpose conv2d conv2d_transpose conv3d conv3d_transpose",
    "distance": "pairwise_distance pdist",
    "extension": "diag_embed gather_tree sequence_mask temporal_shift",
    "input": "embedding one_hot",
    "loss": (
        "adaptive_log_softmax_with_loss binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss "
        "cross_entropy ctc_loss dice_loss gaussian_nll_loss hinge_embedding_loss hsigmoid_loss kl_div l1_loss "
        "log_loss margin_cross_entropy margin_ranking_loss mse_loss multi_label_margin_loss "
        "multi_label_soft_margin_loss multi_margin_loss nll_loss npair_loss poisson_nll_loss rnnt_loss "
        "sigmoid_focal_loss smooth_l1_loss soft_margin_loss softmax_with_cross_entropy square_error_cost "
        "triplet_margin_loss triplet_margin_with_distance_loss"
    ),
    "norm": "batch_norm group_norm instance_norm layer_norm local_response_norm normalize rms_norm",
    "pooling": (
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d "
        "adaptive_max_pool3d avg_pool1d avg_pool2d avg_pool3d fractional_max_pool2d fractional_max_pool3d lp_pool1d "
        "lp_pool2d max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d"
    ),
    "vision": "affine_grid channel_shuffle grid_sample pixel_shuffle pixel_unshuffle",
}
"""Module of ``paddle.nn.functional`` -> the functions in it, which are those of the package."""

provide_all(
    *[
        (f"gradtool.paddle.nn.functional.{_module}", "gradtool.paddle.nn.functional", _names)
        for _module, _names in FUNCTIONS.items()
    ]
)

DATA: dict[str, str] = {
    "batch_sampler": "BatchSampler DistributedBatchSampler",
    "dataset": "ChainDataset ComposeDataset ConcatDataset Dataset IterableDataset Subset TensorDataset random_split",
    "sampler": "RandomSampler Sampler SequenceSampler SubsetRandomSampler WeightedRandomSampler",
    "worker": "get_worker_info",
}
"""Module of ``paddle.io.dataloader`` -> what is in it of ``paddle.io``."""

provide_all(
    *[(f"gradtool.paddle.io.dataloader.{_module}", "gradtool.paddle.io", _names) for _module, _names in DATA.items()]
)
provide("gradtool.paddle.io.dataloader", "gradtool.paddle.io", " ".join(DATA.values()))
provide("gradtool.paddle.io.dataloader.collate", "gradtool.paddle.io._collate", "default_collate_fn default_convert_fn")

for _module in ("decode", "layer.rnn"):
    provide(f"gradtool.paddle.nn.{_module}", "gradtool.paddle.nn._states", "ArrayWrapper")
provide("gradtool.paddle.nn.layer.rnn", "gradtool.paddle.nn._states", "concat_states split_states")
provide("gradtool.paddle.tensor.array", "gradtool.paddle._arrays", "array_length array_read array_write create_array")
provide("gradtool.paddle.tensor.manipulation", "gradtool.paddle._arrays", "tensor_array_to_tensor")
provide("gradtool.paddle.tensor.creation", "gradtool.paddle.fluid.layers._written", "create_tensor")
provide("gradtool.paddle.tensor.random", "gradtool.paddle._random", "gaussian")
provide("gradtool.paddle.jit.dy2static.program_translator", "gradtool.paddle.jit._static_function", "StaticFunction")
provide(
    "gradtool.paddle.base.data_feeder", "gradtool.paddle.base._bits", "convert_float_to_uint16 convert_uint16_to_float"
)
provide("gradtool.paddle.autograd.py_layer", "gradtool.engine.eager.pylayer", "PyLayer PyLayerContext")
provide(
    "gradtool.paddle.framework.random",
    "gradtool.paddle",
    "get_cuda_rng_state get_rng_state seed set_cuda_rng_state set_rng_state",
)
provide(
    "gradtool.paddle.base.dygraph.base",
    "gradtool.paddle._legacy_dygraph",
    "enabled guard no_grad switch_to_static_graph to_variable",
)
provide("gradtool.paddle.base.dygraph.base", "gradtool.paddle.framework", "enable_dygraph disable_dygraph")
provide("gradtool.paddle.base.dygraph.base", "gradtool.paddle.autograd", "grad")
provide(
    "gradtool.paddle.base.dygraph.base",
    "gradtool.paddle._legacy_modes",
    "in_declarative_mode in_to_static_mode param_guard",
)
provide("gradtool.paddle.common_ops_import", "gradtool.paddle", "ParamAttr")
provide("gradtool.paddle.common_ops_import", "gradtool.paddle._layer_helper", "LayerHelper")
provide(
    "gradtool.paddle.common_ops_import",
    "gradtool.paddle._checks_of_users",
    "check_dtype check_type check_variable_and_dtype convert_dtype",
)
provide("gradtool.paddle.common_ops_import", "gradtool.paddle.base", "Variable core default_main_program")
provide("gradtool.paddle.common_ops_import", "gradtool.paddle.device", "device_guard")
provide("gradtool.paddle.common_ops_import", "gradtool.paddle.framework", "convert_np_dtype_to_dtype_ in_dygraph_mode")
announce(
    "gradtool.paddle.common_ops_import",
    "OpProtoHolder",
    "it is for writing new operators in Paddle; gradtool's have definitions of their own",
)

provide(
    "gradtool.paddle.utils",
    "gradtool.paddle.utils._structure",
    "assert_same_structure flatten is_sequence map_structure pack_sequence_as",
)
provide("gradtool.paddle.utils", "gradtool.paddle.utils._checks", "deprecated require_version run_check try_import")
provide("gradtool.paddle", "gradtool.paddle._summary", "summary")
provide("gradtool.paddle", "gradtool.paddle.device", "CustomPlace IPUPlace XPUPlace")
announce(
    "gradtool.paddle.device.cuda",
    "Event Stream current_stream get_device_capability get_device_name get_device_properties max_memory_allocated "
    "max_memory_reserved memory_allocated memory_reserved reset_max_memory_allocated reset_max_memory_reserved "
    "stream_guard synchronize",
    DEVICES,
)
