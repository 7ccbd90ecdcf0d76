"""The table of public names: package, defining module, names."""

from __future__ import annotations

from . import _names_modules, _names_nn, _names_tensors, _names_training  # noqa: F401  (fill the table for their packages)
from ._lazy import provide, provide_all

provide("gradtool.paddle", "gradtool.engine.core.state", "enable_static disable_static set_default_dtype")
provide(
    "gradtool.paddle",
    "gradtool.engine.core.spec",
    "bool_ int8 int16 int32 int64 uint8 float16 float32 float64 bfloat16 complex64 complex128",
)
provide("gradtool.paddle", "gradtool.engine.eager.tensor", "Tensor")
provide("gradtool.paddle", "gradtool.engine.eager.mode", "enable_grad is_grad_enabled no_grad set_grad_enabled")
provide("gradtool.paddle", "gradtool.paddle._linalg", "addmm bmm dot matmul mm")
provide(
    "gradtool.paddle",
    "gradtool.paddle._math",
    "abs acos acosh add add_n asin asinh atan atanh ceil clip cos cosh divide erf exp expm1 floor floor_divide "
    "floor_mod log log10 log1p log2 maximum minimum mod multiply neg negative positive pow reciprocal remainder "
    "round rsqrt scale sigmoid sign sin sinh sqrt square subtract tan tanh",
)
provide(
    "gradtool.paddle",
    "gradtool.paddle._reduction",
    "all amax amin any cumsum logsumexp max mean min norm prod std sum var",
)
provide("gradtool.paddle", "gradtool.paddle._parameters", "ParamAttr create_parameter")
provide(
    "gradtool.paddle",
    "gradtool.paddle.framework",
    "seed in_dynamic_mode in_static_mode get_default_dtype set_flags get_flags",
)

provide(
    "gradtool.paddle.static",
    "gradtool.engine.ir.default",
    "default_main_program default_startup_program program_guard name_scope",
)
provide("gradtool.paddle.static", "gradtool.engine.ir.program", "Program")
provide("gradtool.paddle.static", "gradtool.engine.ir.variable", "Variable")
provide("gradtool.paddle.static", "gradtool.engine.autodiff.backward", "append_backward")
provide("gradtool.paddle.static", "gradtool.engine.autodiff.gradients", "gradients")
provide("gradtool.paddle.static", "gradtool.engine.executor.executor", "Executor")
provide("gradtool.paddle.static", "gradtool.engine.executor.scope", "Scope global_scope scope_guard")
provide("gradtool.paddle.static", "gradtool.paddle._parameters", "create_parameter create_global_var")
provide("gradtool.paddle.static", "gradtool.paddle._data", "data")
provide("gradtool.paddle.static", "gradtool.paddle._parameters", "ParamAttr")

# One block per file below; keep them sorted by file.
provide("gradtool.paddle", "gradtool.paddle._complex", "angle as_complex as_real complex conj imag polar real")
provide(
    "gradtool.paddle",
    "gradtool.paddle.device",
    "CPUPlace CUDAPlace CUDAPinnedPlace set_device get_device is_compiled_with_cinn is_compiled_with_cuda "
    "is_compiled_with_rocm is_compiled_with_xpu",
)
provide("gradtool.paddle.static", "gradtool.paddle.device", "cpu_places cuda_places")
provide("gradtool.paddle", "gradtool.paddle._exchange", "from_dlpack to_dlpack")
provide(
    "gradtool.paddle",
    "gradtool.paddle._creation",
    "arange assign cast clone eye full full_like increment linspace meshgrid numel ones ones_like rank shape to_tensor "
    "tril triu zeros zeros_like",
)
provide(
    "gradtool.paddle",
    "gradtool.paddle._gather",
    "gather gather_nd index_put index_select masked_select scatter take_along_axis",
)
provide(
    "gradtool.paddle",
    "gradtool.paddle._in_place",
    "baddbmm_ bitwise_left_shift_ bitwise_right_shift_ copysign_ cumprod_ digamma_ div_ erf_ expm1_ frac_ gammainc_ "
    "gammaincc_ gammaln_ gcd_ hypot_ i0_ index_add_ index_fill_ lcm_ ldexp_ lgamma_ logit_ masked_scatter_ "
    "multigammaln_ nan_to_num_ polygamma_ renorm_ scatter_add_ sinc_ sub_ subtract_ trunc_ "
    "abs_ acos_ acosh_ addmm_ asin_ asinh_ atan_ atanh_ bitwise_and_ bitwise_invert_ bitwise_not_ bitwise_or_ "
    "bitwise_xor_ cast_ cos_ cosh_ cumsum_ divide_ equal_ flatten_ floor_divide_ floor_mod_ "
    "greater_equal_ greater_than_ index_put_ less_ less_equal_ less_than_ log10_ log1p_ log2_ log_ logical_and_ "
    "logical_not_ logical_or_ logical_xor_ masked_fill_ mod_ multiply_ neg_ not_equal_ pow_ remainder_ reshape_ "
    "scatter_ sin_ sinh_ square_ squeeze_ t_ tan_ tanh_ transpose_ tril_ triu_ unsqueeze_ where_",
)
provide(
    "gradtool.paddle",
    "gradtool.paddle._logic",
    "allclose bitwise_and bitwise_invert bitwise_not bitwise_or bitwise_xor equal equal_all greater_equal "
    "greater_than is_complex is_floating_point is_integer is_tensor isclose isfinite isinf isnan less less_equal "
    "less_than logical_and logical_not logical_or logical_xor not_equal",
)
provide(
    "gradtool.paddle",
    "gradtool.paddle._manipulation",
    "broadcast_tensors broadcast_to chunk concat expand expand_as flatten flip moveaxis reshape reverse roll slice "
    "split squeeze stack strided_slice t tile transpose unbind unsqueeze unstack",
)
provide(
    "gradtool.paddle",
    "gradtool.paddle._random",
    "bernoulli normal rand randint randint_like randn randperm standard_normal uniform",
)
provide("gradtool.paddle", "gradtool.paddle._search", "argmax argmin argsort nonzero sort topk where")
provide("gradtool.paddle.static", "gradtool.paddle._indexing", "setitem")
provide("gradtool.paddle.static", "gradtool.paddle.static._effects", "Print py_func")
provide_all(
    ("gradtool.paddle.static.nn.control_flow", "gradtool.paddle.static._branches", "case cond switch_case"),
    ("gradtool.paddle.static.nn.control_flow", "gradtool.paddle.static._effects", "Assert Print"),
    ("gradtool.paddle.static.nn.control_flow", "gradtool.paddle.static._loops", "while_loop"),
    ("gradtool.paddle.static.nn.control_flow", "gradtool.paddle.static._while", "While"),
)
provide("gradtool.paddle", "gradtool.engine.eager.calls", "grad")
provide("gradtool.paddle.autograd", "gradtool.engine.eager.calls", "backward grad")
provide(
    "gradtool.paddle.autograd",
    "gradtool.engine.eager.mode",
    "enable_grad is_grad_enabled no_grad set_grad_enabled",
)
provide("gradtool.paddle.autograd", "gradtool.engine.eager.pylayer", "PyLayer PyLayerContext")
provide("gradtool.paddle.autograd", "gradtool.engine.eager.saved", "saved_tensors_hooks")
provide("gradtool.paddle.autograd", "gradtool.engine.eager.recompute", "recompute")
provide("gradtool.paddle.incubate.optimizer", "gradtool.paddle.optimizer._recompute", "RecomputeOptimizer")
provide("gradtool.paddle.autograd", "gradtool.paddle.autograd", "Function Hessian Jacobian hessian jacobian jvp vjp")
provide_all(
    ("gradtool.paddle.incubate.autograd", "gradtool.paddle.autograd", "jvp vjp"),
    ("gradtool.paddle.incubate.autograd", "gradtool.paddle.incubate.autograd._matrices", "Hessian Jacobian"),
    (
        "gradtool.paddle.incubate.autograd",
        "gradtool.paddle.incubate.autograd._programs",
        "disable_prim enable_prim forward_grad grad prim2orig prim_enabled",
    ),
)
provide("gradtool.paddle", "gradtool.paddle._along", "masked_fill put_along_axis")
provide("gradtool.paddle", "gradtool.paddle._einsum", "einsum")
provide("gradtool.paddle", "gradtool.paddle._empty", "empty empty_like")
provide("gradtool.paddle", "gradtool.paddle._median", "median")
provide("gradtool.paddle", "gradtool.paddle._repeats", "repeat_interleave unique")
provide(
    "gradtool.paddle",
    "gradtool.paddle._splitting",
    "broadcast_shape dsplit hsplit matrix_transpose tensor_split unflatten vsplit",
)
provide(
    "gradtool.paddle",
    "gradtool.paddle._stacking",
    "atleast_1d atleast_2d atleast_3d column_stack dstack hstack row_stack vstack",
)
provide(
    "gradtool.paddle.static",
    "gradtool.paddle.static._seldom",
    "BuildStrategy CompiledProgram ExecutionStrategy ExponentialMovingAverage Operator Parameter WeightNormParamAttr "
    "accuracy auc device_guard is_persistable load_vars save_vars",
)

provide("gradtool.paddle", "gradtool.paddle._saving", "async_save clear_async_save_task_queue load save")
provide("gradtool.paddle.framework", "gradtool.paddle._saving", "load save")
provide(
    "gradtool.paddle.static",
    "gradtool.paddle.static._saving",
    "deserialize_persistables deserialize_program load load_from_file load_inference_model load_program_state "
    "normalize_program save save_inference_model save_to_file serialize_persistables serialize_program "
    "set_program_state",
)
