"""The table of public names of ``paddle.nn`` and ``paddle.optimizer``: package, defining module, names."""

from __future__ import annotations

from ._lazy import provide

provide(
    "gradtool.paddle.nn",
    "gradtool.paddle.nn._activations",
    "CELU ELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh Identity LeakyReLU LogSigmoid LogSoftmax Mish PReLU "
    "ReLU6 SELU Silu Softmax2D Softplus Softshrink Softsign Swish Tanhshrink ThresholdedReLU",
)
provide("gradtool.paddle.nn", "gradtool.paddle.nn._attention", "MultiHeadAttention")
provide(
    "gradtool.paddle.nn",
    "gradtool.paddle.nn._batch_norm",
    "BatchNorm BatchNorm1D BatchNorm2D BatchNorm3D SyncBatchNorm",
)
provide("gradtool.paddle.nn", "gradtool.paddle.nn._containers", "Sequential LayerList")
provide(
    "gradtool.paddle.nn",
    "gradtool.paddle.nn._conv_layers",
    "Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose",
)
provide("gradtool.paddle.nn", "gradtool.paddle.nn._dropout_layers", "AlphaDropout Dropout Dropout2D Dropout3D")
provide("gradtool.paddle.nn", "gradtool.paddle.nn._keyed_containers", "LayerDict ParameterDict ParameterList")
provide(
    "gradtool.paddle.nn",
    "gradtool.paddle.nn._layers",
    "Linear LayerNorm Embedding Flatten ReLU Tanh Sigmoid GELU Softmax",
)
provide("gradtool.paddle.nn", "gradtool.paddle.nn._losses", "CrossEntropyLoss MSELoss L1Loss BCEWithLogitsLoss")
provide(
    "gradtool.paddle.nn", "gradtool.paddle.nn._norm_layers", "GroupNorm InstanceNorm1D InstanceNorm2D InstanceNorm3D"
)
provide(
    "gradtool.paddle.nn",
    "gradtool.paddle.nn._pooling_layers",
    "MaxPool1D MaxPool2D AvgPool1D AvgPool2D AdaptiveAvgPool1D AdaptiveAvgPool2D AdaptiveMaxPool1D AdaptiveMaxPool2D",
)
provide(
    "gradtool.paddle.nn",
    "gradtool.paddle.nn._pooling_layers",
    "AdaptiveAvgPool3D AdaptiveMaxPool3D AvgPool3D FractionalMaxPool2D FractionalMaxPool3D LPPool1D LPPool2D "
    "MaxPool3D MaxUnPool1D MaxUnPool2D MaxUnPool3D",
)
provide(
    "gradtool.paddle.nn",
    "gradtool.paddle.nn._probability_losses",
    "BCELoss CosineSimilarity KLDivLoss NLLLoss SmoothL1Loss",
)
provide(
    "gradtool.paddle.nn",
    "gradtool.paddle.nn._ranking_losses",
    "CosineEmbeddingLoss HingeEmbeddingLoss MarginRankingLoss MultiLabelSoftMarginLoss PairwiseDistance "
    "SoftMarginLoss TripletMarginLoss",
)
provide(
    "gradtool.paddle.nn",
    "gradtool.paddle.nn._rearranging_layers",
    "ChannelShuffle Fold PixelShuffle PixelUnshuffle Unflatten Unfold",
)
provide("gradtool.paddle.nn", "gradtool.paddle.nn._recurrent", "RNNCellBase SimpleRNNCell LSTMCell GRUCell")
provide("gradtool.paddle.nn", "gradtool.paddle.nn._recurrent_networks", "RNN BiRNN SimpleRNN LSTM GRU")
provide(
    "gradtool.paddle.nn",
    "gradtool.paddle.nn._resizing_layers",
    "Pad1D Pad2D Pad3D Upsample UpsamplingBilinear2D UpsamplingNearest2D ZeroPad1D ZeroPad2D ZeroPad3D",
)
provide(
    "gradtool.paddle.nn",
    "gradtool.paddle.nn._resizing_layers",
    "CircularPad1D CircularPad2D CircularPad3D ConstantPad1D ConstantPad2D ConstantPad3D ReflectionPad1D "
    "ReflectionPad2D ReflectionPad3D ReplicationPad1D ReplicationPad2D ReplicationPad3D",
)
provide(
    "gradtool.paddle.nn",
    "gradtool.paddle.nn._second_names",
    "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d "
    "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d Conv1d Conv2d Conv3d "
    "LPPool1d LPPool2d MaxUnpool1d MaxUnpool2d MaxUnpool3d Module ModuleDict ModuleList ReflectionPad1d "
    "ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d SiLU UpsamplingBilinear2d "
    "UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d",
)
provide(
    "gradtool.paddle.nn",
    "gradtool.paddle.nn._transformer",
    "TransformerEncoderLayer TransformerEncoder TransformerDecoderLayer TransformerDecoder Transformer",
)
provide("gradtool.paddle.nn", "gradtool.paddle.nn.clip", "ClipGradByValue ClipGradByNorm ClipGradByGlobalNorm")
provide("gradtool.paddle.nn", "gradtool.paddle.nn.layer", "Layer")
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._activation",
    "celu elu gelu glu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid log_softmax mish prelu "
    "relu relu6 selu sigmoid silu softmax softplus softshrink softsign swish tanh tanhshrink thresholded_relu",
)
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._attention",
    "scaled_dot_product_attention sparse_attention",
)
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._conv",
    "conv2d conv2d_transpose conv3d conv3d_transpose",
)
provide("gradtool.paddle.nn.functional", "gradtool.paddle.nn.functional._conv1d", "conv1d conv1d_transpose")
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._dropout",
    "alpha_dropout dropout dropout2d dropout3d",
)
provide("gradtool.paddle.nn.functional", "gradtool.paddle.nn.functional._linear", "linear embedding")
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._loss",
    "binary_cross_entropy binary_cross_entropy_with_logits cross_entropy kl_div l1_loss label_smooth log_loss mse_loss "
    "nll_loss smooth_l1_loss softmax_with_cross_entropy square_error_cost",
)
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._norm",
    "batch_norm layer_norm group_norm instance_norm normalize cosine_similarity",
)
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._pooling",
    "avg_pool2d max_pool2d adaptive_avg_pool2d adaptive_max_pool2d",
)
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._pooling1d",
    "adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d max_pool1d",
)
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._pooling3d",
    "adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d max_pool3d",
)
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._power_pooling",
    "fractional_max_pool2d fractional_max_pool3d lp_pool1d lp_pool2d",
)
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._ranking",
    "cosine_embedding_loss dice_loss hinge_embedding_loss margin_ranking_loss multi_label_soft_margin_loss "
    "pairwise_distance sequence_mask sigmoid_focal_loss soft_margin_loss triplet_margin_loss",
)
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._rearranging",
    "affine_grid channel_shuffle fold grid_sample pixel_shuffle pixel_unshuffle temporal_shift unfold",
)
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._resizing",
    "interpolate one_hot pad upsample zeropad2d",
)
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._unpooling",
    "max_unpool1d max_unpool2d max_unpool3d",
)
provide("gradtool.paddle.optimizer", "gradtool.paddle.optimizer._base", "Optimizer")
provide(
    "gradtool.paddle.optimizer",
    "gradtool.paddle.optimizer._rules",
    "SGD Momentum Adam AdamW Adagrad Adadelta Adamax RMSProp Lamb",
)
provide("gradtool.paddle.nn", "gradtool.paddle.nn._activations", "Maxout RReLU")
provide("gradtool.paddle.nn", "gradtool.paddle.nn._bilinear_layer", "Bilinear")
provide("gradtool.paddle.nn", "gradtool.paddle.nn._spectral_layer", "SpectralNorm")
provide("gradtool.paddle.nn", "gradtool.paddle.nn._local_norm_layer", "LocalResponseNorm")
provide("gradtool.paddle.nn", "gradtool.paddle.nn._dropout_layers", "FeatureAlphaDropout")
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._in_place",
    "elu_ hardtanh_ leaky_relu_ relu_ softmax_ tanh_ thresholded_relu_",
)
provide("gradtool.paddle.nn.functional", "gradtool.paddle.nn.functional._gated", "gumbel_softmax maxout rrelu swiglu")
provide("gradtool.paddle.nn.functional", "gradtool.paddle.nn.functional._bilinear", "bilinear")
provide("gradtool.paddle.nn.functional", "gradtool.paddle.nn.functional._local_norm", "local_response_norm rms_norm")
provide("gradtool.paddle.nn.functional", "gradtool.paddle.nn.functional._dropout", "dropout1d feature_alpha_dropout")
provide("gradtool.paddle.nn.functional", "gradtool.paddle.nn.functional._sampling", "class_center_sample gather_tree")
provide("gradtool.paddle.nn.functional", "gradtool.paddle.nn.functional._activation", "logsigmoid")
provide("gradtool.paddle.nn", "gradtool.paddle.nn._second_names", "HuberLoss")
provide(
    "gradtool.paddle.nn",
    "gradtool.paddle.nn._sequence_losses",
    "CTCLoss GaussianNLLLoss MultiLabelMarginLoss MultiMarginLoss PoissonNLLLoss RNNTLoss "
    "TripletMarginWithDistanceLoss",
)
provide("gradtool.paddle.nn", "gradtool.paddle.nn._class_losses", "AdaptiveLogSoftmaxWithLoss HSigmoidLoss")
provide("gradtool.paddle.nn.functional", "gradtool.paddle.nn.functional._alignment", "ctc_loss rnnt_loss")
provide(
    "gradtool.paddle.nn.functional", "gradtool.paddle.nn.functional._likelihood", "gaussian_nll_loss poisson_nll_loss"
)
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._margins",
    "margin_cross_entropy multi_label_margin_loss multi_margin_loss npair_loss triplet_margin_with_distance_loss",
)
provide(
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.nn.functional._hierarchical",
    "adaptive_log_softmax_with_loss hsigmoid_loss",
)
provide("gradtool.paddle.optimizer", "gradtool.paddle.optimizer._newer_rules", "ASGD NAdam RAdam Rprop")
provide("gradtool.paddle.optimizer", "gradtool.paddle.optimizer._lbfgs", "LBFGS")
provide("gradtool.paddle.nn", "gradtool.paddle.nn._parameter", "Parameter")
provide("gradtool.paddle.nn", "gradtool.paddle.nn._normed_weights", "spectral_norm")
provide("gradtool.paddle.nn.functional", "gradtool.paddle.nn.functional._renorm", "embedding_renorm_")
provide(
    "gradtool.paddle.nn.initializer",
    "gradtool.paddle._legacy_initializers",
    "ConstantInitializer MSRAInitializer NormalInitializer NumpyArrayInitializer TruncatedNormalInitializer "
    "UniformInitializer XavierInitializer",
)
provide("gradtool.paddle.nn", "gradtool.paddle.nn._decoding", "BeamSearchDecoder dynamic_decode")
provide("gradtool.paddle.nn.functional", "gradtool.paddle.nn.functional.flash_attention", "flash_attn_qkvpacked")
