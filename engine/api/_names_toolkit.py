"""The table of public names around training that few programs ask for: read when one of their packages is asked."""

from __future__ import annotations

from ._lazy import announce, provide

provide(
    "gradtool.amp",
    "gradtool.amp._casting",
    "amp_guard auto_cast autocast get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype is_autocast_enabled "
    "is_bfloat16_supported is_float16_supported",
)
provide("gradtool.amp.auto_cast", "gradtool.amp._casting", "amp_state")
provide("gradtool.amp", "gradtool.amp._lists", "black_list white_list")
provide("gradtool.amp", "gradtool.amp._narrowing", "amp_decorate decorate")
provide("gradtool.amp", "gradtool.amp._scaler", "AmpScaler GradScaler OptimizerState")
provide("gradtool.amp.grad_scaler", "gradtool.amp", "AmpScaler GradScaler OptimizerState")

CALLBACKS = "Callback EarlyStopping LRScheduler ModelCheckpoint ProgBarLogger ReduceLROnPlateau VisualDL WandbCallback"

provide("gradtool.hapi", "gradtool.hapi._model", "Model")
provide("gradtool.hapi.model", "gradtool.hapi._model", "Model")
provide("gradtool.callbacks", "gradtool.hapi._callbacks", CALLBACKS)
provide("gradtool.hapi.callbacks", "gradtool.hapi._callbacks", f"{CALLBACKS} CallbackList")
provide("gradtool.hapi.callbacks", "gradtool.hapi._callbacks", "config_callbacks")
provide("gradtool.hapi.callbacks", "gradtool.hapi._progress", "ProgressBar")
provide(
    "gradtool.hapi.model",
    "gradtool.hapi._lists",
    "extract_args flatten_list restore_flatten_list to_list to_numpy",
)
provide("gradtool.hapi.progressbar", "gradtool.hapi._progress", "ProgressBar")
for _package in ("gradtool.hapi", "gradtool.hapi.model_summary"):
    provide(_package, "gradtool._summary", "summary")
for _package in ("gradtool.hapi", "gradtool.hapi.dynamic_flops"):
    provide(_package, "gradtool.hapi._flops", "flops")
provide(
    "gradtool.amp.debugging",
    "gradtool.amp._numerics",
    "DebugMode TensorCheckerConfig check_layer_numerics check_numerics disable_tensor_checker enable_tensor_checker",
)
provide(
    "gradtool.amp.debugging",
    "gradtool.amp._operators",
    "collect_operator_stats disable_operator_stats_collection enable_operator_stats_collection",
)
provide("gradtool.amp.debugging", "gradtool.amp._comparing", "compare_accuracy")
provide(
    "gradtool.reader",
    "gradtool.reader._decorators",
    "buffered cache chain compose firstn map_readers multiprocess_reader shuffle xmap_readers",
)

provide(
    "gradtool.profiler",
    "gradtool.profiler._schedule",
    "ProfilerState ProfilerTarget SortedKeys SummaryView make_scheduler",
)
provide(
    "gradtool.profiler",
    "gradtool.profiler._profiler",
    "Profiler RecordEvent export_chrome_tracing load_profiler_result",
)
announce(
    "gradtool.profiler", "export_protobuf", "traces are written as JSON: use paddle.profiler.export_chrome_tracing"
)
provide("gradtool.audio", "gradtool.audio.backends", "info load save")
provide("gradtool.text", "gradtool.text._decoding", "ViterbiDecoder viterbi_decode")
provide("gradtool.text", "gradtool.text.datasets", "Conll05st Imdb Imikolov Movielens UCIHousing WMT14 WMT16")
provide("gradtool.hub", "gradtool.hub", "help list load load_state_dict_from_url")
provide("gradtool.sysconfig", "gradtool.sysconfig", "get_include get_lib")
