"""Names that only ``paddle.base`` and ``paddle.fluid`` have."""

from __future__ import annotations

from gradtool.engine.core import spec
from gradtool.engine.eager.parameter import TensorParameter as EagerParamBase
from gradtool.engine.eager.tensor import Tensor as VarBase
from gradtool.engine.executor.scope import DenseTensor as LoDTensor
from gradtool.engine.ir.variable import DENSE, SELECTED_ROWS
from gradtool.paddle.nn.clip import ClipGradBase as GradientClipBase
from gradtool.paddle.nn.initializer import Bilinear as BilinearInitializer

__all__ = ["BilinearInitializer", "EagerParamBase", "GradientClipBase", "LoDTensor", "ParamBase", "VarBase", "VarDesc"]

ParamBase = EagerParamBase


class VarDesc:
    """Holder of :class:`VarType`, as in ``core.VarDesc.VarType.FP32``."""

    class VarType:
        """Data types under their old names, and the kinds of variables that ``Block.create_var`` takes."""

        BOOL = spec.bool_
        INT8 = spec.int8
        INT16 = spec.int16
        INT32 = spec.int32
        INT64 = spec.int64
        UINT8 = spec.uint8
        FP16 = spec.float16
        BF16 = spec.bfloat16
        FP32 = spec.float32
        FP64 = spec.float64
        COMPLEX64 = spec.complex64
        COMPLEX128 = spec.complex128

        DENSE_TENSOR = DENSE
        LOD_TENSOR = DENSE
        SELECTED_ROWS = SELECTED_ROWS
        STEP_SCOPES = "STEP_SCOPES"
        DENSE_TENSOR_ARRAY = "DENSE_TENSOR_ARRAY"
        LOD_TENSOR_ARRAY = "DENSE_TENSOR_ARRAY"
        RAW = "RAW"
