"""The table of public names around training that few programs ask for: read when one of their packages is asked."""

from __future__ import annotations

from ._lazy import provide

provide(
    "gradtool.amp",
    "gradtool.amp._casting",
    "auto_cast autocast decorate get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype is_autocast_enabled "
    "is_bfloat16_supported is_float16_supported",
)
provide("gradtool.amp", "gradtool.amp._scaler", "GradScaler")

CALLBACKS = "Callback EarlyStopping LRScheduler ModelCheckpoint ProgBarLogger ReduceLROnPlateau VisualDL WandbCallback"

provide("gradtool.hapi", "gradtool.hapi._model", "Model")
provide("gradtool.hapi.model", "gradtool.hapi._model", "Model")
provide("gradtool.callbacks", "gradtool.hapi._callbacks", CALLBACKS)
provide("gradtool.hapi.callbacks", "gradtool.hapi._callbacks", f"{CALLBACKS} CallbackList")
provide("gradtool.hapi.callbacks", "gradtool.hapi._progress", "ProgressBar")
provide("gradtool.hapi.progressbar", "gradtool.hapi._progress", "ProgressBar")
for _package in ("gradtool.hapi", "gradtool.hapi.model_summary"):
    provide(_package, "gradtool._summary", "summary")
for _package in ("gradtool.hapi", "gradtool.hapi.dynamic_flops"):
    provide(_package, "gradtool.hapi._flops", "flops")
