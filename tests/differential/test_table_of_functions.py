"""Every public function is drawn by a row of the table, or it says here why not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gradtool

from .drawing import TENSOR_METHODS
from .programs import drawn
from .table import ROWS

NAMES = Path(__file__).parents[1] / "paddle" / "public_names.txt"

ABSENT = {
    "a module that fills parameters (tests/paddle/test_helpers_that_projects_import.py)": "init",
    "random": "bernoulli_ binomial cauchy_ geometric_ log_normal log_normal_ multinomial normal_ poisson "
    "rand_like randn_like standard_gamma Generator get_cuda_rng_state get_rng_state manual_seed "
    "set_cuda_rng_state set_rng_state",
    "constants": "e inf nan newaxis pi",
    "printing": "set_printoptions summary",
    "readers": "batch",
    "places, devices and versions": "CPUPlace CUDAPinnedPlace CUDAPlace CustomPlace IPUPlace XPUPlace "
    "cpu_places cuda_places device device_guard get_cudnn_version get_default_device get_device "
    "is_compiled_with_cinn is_compiled_with_cuda is_compiled_with_custom_device is_compiled_with_distribute "
    "is_compiled_with_ipu is_compiled_with_rocm is_compiled_with_xpu set_default_device set_device version",
    "settings, under which programs run": "disable_static enable_static get_default_dtype get_flags "
    "in_dynamic_mode in_static_mode seed set_default_dtype set_flags is_grad_enabled set_grad_enabled "
    "enable_grad",
    "files and exchange": "from_dlpack load save to_dlpack deserialize_persistables deserialize_program "
    "load_from_file load_inference_model load_program_state normalize_program save_inference_model "
    "save_to_file serialize_persistables serialize_program set_program_state",
    "dtypes": "Size bool cdouble cfloat double float half int long short bfloat16 bool_ complex128 complex64 "
    "float16 float32 float64 int16 int32 int64 int8 uint8",
    "a description without values: tests/paddle/jit": "InputSpec",
    "a kernel of Paddle for graphics cards alone: tests/paddle/sparse": "sparse_attention",
    "what the driver itself is made of": "Tensor data Executor Program Scope Variable append_backward "
    "gradients default_main_program default_startup_program global_scope program_guard scope_guard name_scope "
    "ParamAttr backward",
    "training as a whole: tests/paddle/hapi": "LazyGuard Model async_save clear_async_save_task_queue flops",
    "what programs are run and kept by: tests/paddle/static": "BuildStrategy CompiledProgram ExecutionStrategy "
    "ExponentialMovingAverage Operator WeightNormParamAttr amp auc is_persistable load_vars save_vars",
    "packages, whose functions have rows": "initializer lr nn regularizer utils",
    "base classes and containers of them": "Function Layer Optimizer Parameter ParameterDict ParameterList PyLayer "
    "PyLayerContext RNNCellBase saved_tensors_hooks",
    "functions of Python in a program": "py_func jvp vjp Jacobian Hessian recompute",
    "writes into its argument under another name of the same": "tensor",
    "the same under another name": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveMaxPool1d AdaptiveMaxPool2d "
    "Conv1d Conv2d HuberLoss Module ModuleDict ModuleList SiLU UpsamplingBilinear2d UpsamplingNearest2d "
    "ZeroPad1d ZeroPad2d ZeroPad3d flash_attention grad logsigmoid no_grad",
    "trains, counts or saves a model (tests/paddle/hapi)": "LazyGuard Model async_save clear_async_save_task_queue "
    "flops",
    "mixed precision and processes": "DataParallel autocast get_autocast_cpu_dtype get_autocast_dtype "
    "get_autocast_gpu_dtype is_autocast_enabled",
    "search and decoding: tests/paddle/nn/test_decoding.py": "BeamSearchDecoder dynamic_decode",
    "writes in place: tests/paddle/test_in_place_forms.py": "elu_ embedding_renorm_ hardtanh_ leaky_relu_ relu_ "
    "softmax_ tanh_ thresholded_relu_",
    "vectors without signs of their own, and Paddle ends without a word: tests/paddle/linalg/test_factors.py": "eig "
    "eigvals householder_product lstsq lu_solve lu_unpack ormqr pca_lowrank qr svd_lowrank",
    "modules by which the same names are reached": "clip loss",
    "steps recorded with Paddle in tests/paddle/optimizer": "ASGD LBFGS NAdam RAdam Rprop",
    "tests/layer_values and tests/paddle/nn": "AdaptiveAvgPool3D AdaptiveAvgPool3d AdaptiveLogSoftmaxWithLoss "
    "AdaptiveMaxPool3D AdaptiveMaxPool3d AvgPool3D Bilinear CTCLoss CircularPad1D CircularPad1d CircularPad2D "
    "CircularPad2d CircularPad3D CircularPad3d ConstantPad1D ConstantPad1d ConstantPad2D ConstantPad2d "
    "ConstantPad3D ConstantPad3d Conv3D Conv3DTranspose Conv3d FeatureAlphaDropout FractionalMaxPool2D "
    "FractionalMaxPool3D GaussianNLLLoss HSigmoidLoss LPPool1D LPPool1d LPPool2D LPPool2d LocalResponseNorm "
    "MaxPool3D MaxUnPool1D MaxUnPool2D MaxUnPool3D MaxUnpool1d MaxUnpool2d MaxUnpool3d Maxout "
    "MultiLabelMarginLoss MultiMarginLoss PoissonNLLLoss RNNTLoss RReLU ReflectionPad1D ReflectionPad1d "
    "ReflectionPad2D ReflectionPad2d ReflectionPad3D ReflectionPad3d ReplicationPad1D ReplicationPad1d "
    "ReplicationPad2D ReplicationPad2d ReplicationPad3D ReplicationPad3d SpectralNorm "
    "TripletMarginWithDistanceLoss adaptive_avg_pool3d adaptive_log_softmax_with_loss adaptive_max_pool3d "
    "avg_pool3d bilinear class_center_sample conv3d conv3d_transpose ctc_loss dropout1d feature_alpha_dropout "
    "flash_attn_qkvpacked fractional_max_pool2d fractional_max_pool3d gather_tree gaussian_nll_loss "
    "gumbel_softmax hsigmoid_loss local_response_norm lp_pool1d lp_pool2d margin_cross_entropy max_pool3d "
    "max_unpool1d max_unpool2d max_unpool3d maxout multi_label_margin_loss multi_margin_loss npair_loss "
    "poisson_nll_loss rms_norm rnnt_loss rrelu spectral_norm swiglu triplet_margin_with_distance_loss",
}
REASONS = {name: reason for reason, names in ABSENT.items() for name in names.split()}
COMPARED = (
    "gradtool.paddle",
    "gradtool.paddle.autograd",
    "gradtool.paddle.fft",
    "gradtool.paddle.linalg",
    "gradtool.paddle.nn",
    "gradtool.paddle.nn.functional",
    "gradtool.paddle.optimizer",
    "gradtool.paddle.static",
)
"""The packages with functions of their own; the others hold the same ones under older names."""


def public() -> set[str]:
    """Names such as ``nn.functional.relu``."""
    out = set()
    for paragraph in NAMES.read_text(encoding="utf-8").split("\n\n"):
        head, *names = paragraph.split("\n")
        package = head.rstrip(":")
        if package in COMPARED:
            prefix = package.removeprefix("gradtool.paddle").removeprefix(".")
            out |= {f"{prefix}.{n.strip()}" if prefix else n.strip() for n in names if n.strip()}
    return out


def packages(name: str) -> bool:
    """Whether a name is that of a package."""
    return bool(re.search(rf"^gradtool\.paddle\.{re.escape(name)}:", NAMES.read_text(encoding="utf-8"), re.MULTILINE))


def drawn_somewhere(name: str) -> bool:
    return name in ROWS or f"Tensor.{name}" in ROWS or f"static.{name}" in ROWS


def test_every_public_function_has_a_row_or_a_reason() -> None:
    absent = {n for n in public() if not drawn_somewhere(n) and not packages(n)}
    missing = sorted(n for n in absent if n.rpartition(".")[2] not in REASONS)
    assert not missing, f"put these into a row of tests/differential/rows or say why not: {missing}"


def test_no_reason_is_given_for_what_is_drawn_or_gone() -> None:
    names = {n.rpartition(".")[2] for n in public() if not drawn_somewhere(n)}
    assert sorted(set(REASONS) - names) == []


def test_every_method_that_writes_in_place_is_drawn() -> None:
    writing = {m for m in TENSOR_METHODS if m.endswith("_") and not m.startswith("_")}
    random = {"normal_", "uniform_", "bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "random_"}
    other = {"requires_grad_", "apply_", "grad_"}
    assert sorted(m for m in writing - random - other if not drawn_somewhere(m)) == []


@pytest.mark.parametrize("mode", ["eager", "static"])
def test_every_row_writes_programs_and_a_seed_gives_one(mode: str) -> None:
    for name, row in ROWS.items():
        if mode in row.modes:
            assert drawn(1, mode, "single", name) == drawn(1, mode, "single", name)


def test_drawing_leaves_the_mode_as_it_was() -> None:
    gradtool.paddle.enable_static()
    try:
        drawn(3, "static", "chain")
        assert gradtool.paddle.in_static_mode()
    finally:
        gradtool.paddle.disable_static()
