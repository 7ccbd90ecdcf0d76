"""The table of public names in modules that Paddle defines them in and that scripts import them from."""

from __future__ import annotations

from ._absent import DEVICES
from ._lazy import announce, provide

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

for _module, _names in LAYERS.items():
    provide(f"gradtool.nn.layer.{_module}", "gradtool.nn", _names)
    provide("gradtool.nn.layer", "gradtool.nn", _names)

provide("gradtool.autograd.py_layer", "gradtool.engine.eager.pylayer", "PyLayer PyLayerContext")
provide(
    "gradtool.framework.random", "gradtool", "get_cuda_rng_state get_rng_state seed set_cuda_rng_state set_rng_state"
)
provide(
    "gradtool.base.dygraph.base",
    "gradtool._legacy_dygraph",
    "enabled guard no_grad switch_to_static_graph to_variable",
)
provide("gradtool.base.dygraph.base", "gradtool.framework", "enable_dygraph disable_dygraph")
provide("gradtool.base.dygraph.base", "gradtool.autograd", "grad")
provide("gradtool.common_ops_import", "gradtool", "ParamAttr")
provide("gradtool.common_ops_import", "gradtool._layer_helper", "LayerHelper")
provide("gradtool.common_ops_import", "gradtool.base", "Variable core default_main_program")
provide("gradtool.common_ops_import", "gradtool.device", "device_guard")
provide("gradtool.common_ops_import", "gradtool.framework", "convert_np_dtype_to_dtype_ in_dygraph_mode")
announce(
    "gradtool.common_ops_import",
    "OpProtoHolder check_dtype check_type check_variable_and_dtype",
    "it is for writing new operators in Paddle; gradtool's have definitions of their own",
)

provide(
    "gradtool.utils",
    "gradtool.utils._structure",
    "assert_same_structure flatten is_sequence map_structure pack_sequence_as",
)
provide("gradtool.utils", "gradtool.utils._checks", "deprecated require_version run_check try_import")
provide("gradtool", "gradtool._summary", "summary")
provide("gradtool", "gradtool.device", "CustomPlace IPUPlace XPUPlace")
announce(
    "gradtool.device.cuda",
    "Event Stream current_stream get_device_capability get_device_name get_device_properties max_memory_allocated "
    "max_memory_reserved memory_allocated memory_reserved reset_max_memory_allocated reset_max_memory_reserved "
    "stream_guard synchronize",
    DEVICES,
)
