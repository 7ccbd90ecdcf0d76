"""The public names of ``paddle.base`` and ``paddle.fluid``: one table for both."""

from __future__ import annotations

from ._absent import INTERNAL, SEQUENCES, SERVERS
from ._lazy import announce, provide

OLD_PACKAGES = ("gradtool.paddle.base", "gradtool.paddle.fluid")

PLACES = "CPUPlace CUDAPlace CUDAPinnedPlace XPUPlace cpu_places cuda_places"
BUILD = "is_compiled_with_cuda is_compiled_with_rocm is_compiled_with_xpu is_compiled_with_cinn"
MODES = "in_dygraph_mode in_pir_mode in_dynamic_or_pir_mode enable_dygraph disable_dygraph"
FLAGS = "set_flags get_flags"
GUARDS = "default_main_program default_startup_program program_guard name_scope"
SCOPES = "Scope global_scope scope_guard"
CONSTANTS = "EMPTY_VAR_NAME GRAD_VAR_SUFFIX grad_var_name convert_np_dtype_to_dtype_"
INITIALIZERS = (
    "Constant ConstantInitializer Uniform UniformInitializer Normal NormalInitializer TruncatedNormal "
    "TruncatedNormalInitializer Xavier XavierInitializer MSRA MSRAInitializer NumpyArrayInitializer"
)

INFERENCE = "AnalysisConfig AnalysisPredictor PaddleTensor create_paddle_predictor"
COMPILED = "BuildStrategy CompiledProgram ExecutionStrategy"

for _package in OLD_PACKAGES:
    # the package itself
    provide(_package, "gradtool.engine.ir.program", "Program")
    provide(_package, "gradtool.engine.ir.variable", "Variable")
    provide(_package, "gradtool.engine.ir.default", GUARDS)
    provide(_package, "gradtool.engine.autodiff.backward", "append_backward")
    provide(_package, "gradtool.engine.autodiff.gradients", "gradients")
    provide(_package, "gradtool.engine.executor.executor", "Executor")
    provide(_package, "gradtool.engine.executor.scope", SCOPES)
    provide(_package, "gradtool.paddle._parameters", "ParamAttr")
    provide(_package, "gradtool.paddle.framework", f"{FLAGS} {MODES}")
    provide(_package, "gradtool.paddle.device", f"{PLACES} {BUILD}")
    # its modules
    provide(f"{_package}.framework", "gradtool.engine.ir.program", "Program Block")
    provide(f"{_package}.framework", "gradtool.engine.ir.operator", "Operator")
    provide(f"{_package}.framework", "gradtool.engine.ir.variable", "Variable Parameter")
    provide(
        f"{_package}.framework", "gradtool.engine.ir.default", f"{GUARDS} switch_main_program switch_startup_program"
    )
    provide(f"{_package}.framework", "gradtool.paddle.framework", f"{FLAGS} {MODES} {CONSTANTS}")
    provide(f"{_package}.framework", "gradtool.paddle.device", f"cpu_places cuda_places {BUILD}")
    provide(f"{_package}.backward", "gradtool.engine.autodiff.backward", "append_backward")
    provide(f"{_package}.backward", "gradtool.engine.autodiff.gradients", "gradients calc_gradient")
    provide(f"{_package}.core", "gradtool.paddle.device", f"CPUPlace CUDAPlace CUDAPinnedPlace XPUPlace {BUILD}")
    provide(f"{_package}.core", "gradtool.engine.executor.scope", "Scope DenseTensor")
    provide(f"{_package}.core", "gradtool.paddle._legacy", "VarDesc LoDTensor")
    provide(f"{_package}.executor", "gradtool.engine.executor.executor", "Executor")
    provide(f"{_package}.executor", "gradtool.engine.executor.scope", SCOPES)
    provide(
        f"{_package}.data_feeder", "gradtool.paddle._checks_of_users", "check_dtype check_type check_variable_and_dtype"
    )
    provide(f"{_package}.data_feeder", "gradtool.paddle._checks_of_users", "convert_dtype")
    provide(f"{_package}.layer_helper", "gradtool.paddle._layer_helper", "LayerHelper")
    provide(f"{_package}.param_attr", "gradtool.paddle._parameters", "ParamAttr")
    provide(f"{_package}.unique_name", "gradtool.paddle.utils.unique_name", "generate switch guard")
    provide(f"{_package}.initializer", "gradtool.paddle._legacy_initializers", INITIALIZERS)
    provide(f"{_package}.dygraph", "gradtool.paddle._legacy_dygraph", "guard enabled no_grad to_variable")
    provide(f"{_package}.dygraph", "gradtool.paddle.framework", "enable_dygraph disable_dygraph")
    provide(f"{_package}.dygraph", "gradtool.paddle.autograd", "grad")
    provide(f"{_package}.dygraph", "gradtool.paddle.nn", "Layer Sequential LayerList")
    provide(_package, "gradtool.paddle._legacy_feeding", "DataFeeder")
    provide(f"{_package}.framework", "gradtool.paddle._legacy_modes", "dygraph_only static_only in_to_static_mode")
    provide(f"{_package}.framework", "gradtool.paddle._legacy", "EagerParamBase ParamBase")
    provide(f"{_package}.framework", "gradtool.paddle.static._devices", "device_guard")
    provide(f"{_package}.framework", "gradtool.paddle.base", "core unique_name")
    provide(f"{_package}.core", "gradtool.paddle._legacy", "VarBase")
    provide(_package, "gradtool.paddle._legacy", "LoDTensor")
    provide(f"{_package}.data_feeder", "gradtool.paddle._legacy_feeding", "DataFeeder")
    provide(_package, "gradtool.paddle.utils._checks", "require_version")
    provide(f"{_package}.install_check", "gradtool.paddle.utils._checks", "run_check")
    announce(_package, "dataset", "it is a part of Paddle that gradtool does not have (data sets of the old kind)")
    provide(_package, "gradtool.engine.executor.compiled", COMPILED)
    announce(_package, "ParallelExecutor", "give the program to an Executor, which runs it the same")
    announce(_package, "LoDTensorArray create_lod_tensor create_random_int_lodtensor", SEQUENCES)
    announce(f"{_package}.core", "LoDTensorArray", SEQUENCES)
    announce(f"{_package}.core", INFERENCE, "paddle.inference is a part of Paddle that gradtool does not have")
    announce(f"{_package}.core", "ops eager libpaddle", INTERNAL)
    announce(f"{_package}.framework", "IrGraph OpProtoHolder", INTERNAL)
    announce(_package, "memory_optimize release_memory", "it did nothing any more when Paddle dropped it: leave it out")
    provide(_package, "gradtool.paddle.static._devices", "device_guard")
    provide(_package, "gradtool.paddle.static._weight_norm", "WeightNormParamAttr")
    provide(f"{_package}.param_attr", "gradtool.paddle.static._weight_norm", "WeightNormParamAttr")


provide("gradtool.paddle.fluid.optimizer", "gradtool.paddle.optimizer._recompute", "RecomputeOptimizer")
provide(
    "gradtool.paddle.fluid.optimizer",
    "gradtool.paddle._legacy_optimizers",
    "SGD SGDOptimizer Momentum MomentumOptimizer Adagrad AdagradOptimizer Adam AdamOptimizer Adamax AdamaxOptimizer "
    "Adadelta AdadeltaOptimizer RMSPropOptimizer Lamb LambOptimizer",
)
provide(
    "gradtool.paddle.fluid.optimizer",
    "gradtool.paddle.incubate.optimizer",
    "GradientMergeOptimizer LarsMomentumOptimizer ModelAverage",
)
provide("gradtool.paddle.fluid.optimizer", "gradtool.paddle.incubate.optimizer._lars", "LarsMomentum")
provide("gradtool.paddle.fluid.optimizer", "gradtool.paddle.incubate.optimizer._look_ahead", "LookaheadOptimizer")
provide("gradtool.paddle.fluid.optimizer", "gradtool.paddle.optimizer", "Optimizer")
announce(
    "gradtool.paddle.fluid.optimizer",
    "DecayedAdagrad DecayedAdagradOptimizer Dpsgd DpsgdOptimizer Ftrl FtrlOptimizer DGCMomentumOptimizer",
    "Paddle dropped it with version 3; Adagrad and Adam are near",
)
DECAYS = (
    "CosineDecay ExponentialDecay InverseTimeDecay LambdaDecay LearningRateDecay LinearLrWarmup MultiStepDecay "
    "NaturalExpDecay NoamDecay PiecewiseDecay PolynomialDecay StepDecay"
)
provide("gradtool.paddle.fluid.dygraph", "gradtool.paddle._legacy_decays", DECAYS)
announce("gradtool.paddle.fluid.dygraph", "ReduceLROnPlateau", "give the optimizer paddle.optimizer.lr.ReduceOnPlateau")
provide(
    "gradtool.paddle.fluid.dygraph",
    "gradtool.paddle._legacy_layers",
    "BilinearTensorProduct Conv2D Conv2DTranspose Conv3D Dropout Embedding GroupNorm InstanceNorm Linear PRelu Pool2D",
)
provide("gradtool.paddle.fluid.dygraph", "gradtool.paddle.nn", "BatchNorm Flatten LayerNorm ParameterList SpectralNorm")
provide(
    "gradtool.paddle.fluid.dygraph",
    "gradtool.paddle.nn",
    "BCELoss CrossEntropyLoss GRUCell L1Loss LSTMCell MSELoss NLLLoss",
)
announce(
    "gradtool.paddle.fluid.dygraph",
    "Conv3DTranspose FC GRUUnit NCE TreeConv",
    "its arguments of version 1 are not here; the layers of paddle.nn are",
)
provide("gradtool.paddle.fluid.dygraph", "gradtool.paddle.distributed", "DataParallel ParallelEnv")
provide("gradtool.paddle.fluid.dygraph", "gradtool.paddle._legacy_parallel", "Env ParallelStrategy prepare_context")
provide("gradtool.paddle.fluid.dygraph", "gradtool.paddle.jit", "to_static")
provide("gradtool.paddle.fluid.dygraph", "gradtool.paddle._legacy_dygraph", "declarative")
announce(
    "gradtool.paddle.fluid.dygraph", "ProgramTranslator TracedLayer", "use paddle.jit.to_static and paddle.jit.save"
)
provide("gradtool.paddle.fluid.dygraph", "gradtool.paddle.amp", "AmpScaler amp_guard")
provide("gradtool.paddle.fluid", "gradtool.paddle.distributed", "DataParallel")
provide(
    "gradtool.paddle.fluid.clip",
    "gradtool.paddle.nn.clip",
    "ClipGradBase ClipGradByGlobalNorm ClipGradByNorm ClipGradByValue",
)
provide("gradtool.paddle.fluid.clip", "gradtool.paddle._legacy", "GradientClipBase")
announce(
    "gradtool.paddle.fluid.clip",
    "ErrorClipByValue append_gradient_clip_ops error_clip_callback set_gradient_clip",
    "give the optimizer a grad_clip",
)
provide("gradtool.paddle.fluid.initializer", "gradtool.paddle.nn.initializer", "Bilinear Initializer")
provide("gradtool.paddle.fluid.initializer", "gradtool.paddle._legacy", "BilinearInitializer")
announce("gradtool.paddle.fluid.initializer", "force_init_on_cpu init_on_cpu", "everything is on the CPU: leave it out")
provide(
    "gradtool.paddle.fluid.io",
    "gradtool.paddle.io",
    "BatchSampler ChainDataset ComposeDataset DataLoader Dataset IterableDataset",
)
provide(
    "gradtool.paddle.fluid.io",
    "gradtool.paddle.reader",
    "buffered cache chain compose firstn map_readers shuffle xmap_readers",
)
provide("gradtool.paddle.fluid.io", "gradtool.paddle", "batch")
announce("gradtool.paddle.fluid.io", "PyReader", "give a paddle.io.DataLoader a data set, or feed the Executor batches")
announce(
    "gradtool.paddle.fluid.metrics", "DetectionMAP", "Paddle computes it by an operator that version 3 has no more"
)
announce("gradtool.paddle.fluid.nets", "sequence_conv_pool", SEQUENCES)
announce("gradtool.paddle.fluid", "transpiler DistributeTranspiler DistributeTranspilerConfig", SERVERS)
provide("gradtool.paddle.fluid.layers", "gradtool.paddle.nn.functional", "sequence_mask")
announce(
    "gradtool.paddle.fluid.layers",
    "DynamicRNN IfElse StaticRNN Switch",
    "write a loop with paddle.static.nn.while_loop, a branch with paddle.static.nn.cond",
)
announce("gradtool.paddle.fluid.layers", "py_reader double_buffer read_file", "feed the Executor batches")
provide("gradtool.paddle.fluid.dygraph", "gradtool.paddle._legacy_dygraph", "load_dygraph save_dygraph")
provide("gradtool.paddle.fluid", "gradtool.paddle._legacy_dygraph", "load_dygraph save_dygraph")
provide("gradtool.paddle.fluid", "gradtool.paddle.static._saving", "load save")
provide(
    "gradtool.paddle.fluid.io",
    "gradtool.paddle.fluid._saving",
    "get_program_parameter get_program_persistable_vars load_inference_model load_params load_persistables load_vars "
    "save_inference_model save_params save_persistables save_vars",
)
provide("gradtool.paddle.fluid.io", "gradtool.paddle.fluid._saving", "is_persistable")
provide("gradtool.paddle.fluid.optimizer", "gradtool.paddle.static._averages", "ExponentialMovingAverage")
provide("gradtool.paddle.fluid.io", "gradtool.paddle.static._saving", "load load_program_state save set_program_state")
provide(
    "gradtool.paddle.fluid.regularizer",
    "gradtool.paddle.regularizer",
    "L1Decay L2Decay L1DecayRegularizer L2DecayRegularizer",
)
provide(
    "gradtool.paddle.fluid.clip",
    "gradtool.paddle.nn.clip",
    "GradientClipByValue GradientClipByNorm GradientClipByGlobalNorm",
)
provide("gradtool.paddle.fluid", "gradtool.paddle._data", "data")
provide("gradtool.paddle.fluid", "gradtool.paddle.static.nn", "embedding")
provide("gradtool.paddle.fluid", "gradtool.paddle.nn.functional", "one_hot")

# What fluid.layers has beside the table in fluid/layers/_table.py.
provide(
    "gradtool.paddle.fluid.layers",
    "gradtool.paddle.static.nn",
    "batch_norm bilinear_tensor_product conv2d conv2d_transpose conv3d conv3d_transpose group_norm instance_norm "
    "layer_norm nce row_conv spectral_norm",
)
provide("gradtool.paddle.fluid.layers", "gradtool.paddle._parameters", "create_global_var create_parameter")
provide("gradtool.paddle.fluid.layers", "gradtool.paddle.static._branches", "case cond switch_case")
provide("gradtool.paddle.fluid.layers", "gradtool.paddle.static._effects", "Assert Print py_func")
provide("gradtool.paddle.fluid.layers", "gradtool.paddle.static._loops", "while_loop")
provide(
    "gradtool.paddle.fluid.layers",
    "gradtool.paddle._arrays",
    "array_length array_read array_write create_array tensor_array_to_tensor",
)
provide("gradtool.paddle.fluid.layers", "gradtool.paddle.static._while", "While")
provide("gradtool.paddle.fluid.layers", "gradtool.paddle.static._metrics", "accuracy auc")
announce(
    "gradtool.paddle.fluid.layers",
    "cosine_decay exponential_decay inverse_time_decay linear_lr_warmup natural_exp_decay noam_decay piecewise_decay "
    "polynomial_decay",
    "give the optimizer one of paddle.optimizer.lr, and call its step()",
)
provide(
    "gradtool.paddle.fluid.layers",
    "gradtool.paddle.fluid.layers._written",
    "create_tensor cross_entropy data dropout embedding fc fill_constant flatten matmul mean one_hot pool2d prelu "
    "reduce_max reduce_mean reduce_min reduce_prod reduce_sum reshape softmax_with_cross_entropy",
)

provide("gradtool.paddle.framework", "gradtool.engine.ir.program", "Program Block")
provide("gradtool.paddle.framework", "gradtool.engine.ir.variable", "Parameter")
provide("gradtool.paddle.framework", "gradtool.paddle._parameters", "ParamAttr")
provide("gradtool.paddle.framework", "gradtool.paddle._layer_helper", "LayerHelper")
provide("gradtool.paddle.framework", "gradtool.paddle", "grad no_grad iinfo finfo dtype")
provide("gradtool.paddle.framework", "gradtool.paddle._legacy", "EagerParamBase")
provide("gradtool.paddle.framework", "gradtool.paddle.device", "CPUPlace CUDAPlace CUDAPinnedPlace XPUPlace")
provide("gradtool.paddle.framework", "gradtool.engine.core.state", "enable_static disable_static set_default_dtype")
provide("gradtool.paddle.framework", "gradtool.engine.ir.default", "switch_main_program switch_startup_program")
announce("gradtool.paddle.base", "io", "it is in paddle.static and paddle.fluid.io")
announce(
    "gradtool.paddle.base", "optimizer regularizer clip", "it is in paddle.optimizer, paddle.regularizer and paddle.nn"
)
