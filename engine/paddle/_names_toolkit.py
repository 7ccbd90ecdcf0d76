"""The table of public names around training that few programs ask for: read when one of their packages is asked."""

from __future__ import annotations

from ._lazy import announce, provide

provide(
    "gradtool.paddle.amp",
    "gradtool.paddle.amp._casting",
    "amp_guard auto_cast autocast get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype is_autocast_enabled "
    "is_bfloat16_supported is_float16_supported",
)
provide("gradtool.paddle.amp.auto_cast", "gradtool.paddle.amp._casting", "amp_state")
provide("gradtool.paddle.amp", "gradtool.paddle.amp._lists", "black_list white_list")
provide("gradtool.paddle.amp", "gradtool.paddle.amp._narrowing", "amp_decorate decorate")
provide("gradtool.paddle.amp", "gradtool.paddle.amp._scaler", "AmpScaler GradScaler OptimizerState")
provide("gradtool.paddle.amp.grad_scaler", "gradtool.paddle.amp", "AmpScaler GradScaler OptimizerState")

CALLBACKS = "Callback EarlyStopping LRScheduler ModelCheckpoint ProgBarLogger ReduceLROnPlateau VisualDL WandbCallback"

provide("gradtool.paddle.hapi", "gradtool.paddle.hapi._model", "Model")
provide("gradtool.paddle.hapi.model", "gradtool.paddle.hapi._model", "Model")
provide("gradtool.paddle.callbacks", "gradtool.paddle.hapi._callbacks", CALLBACKS)
provide("gradtool.paddle.hapi.callbacks", "gradtool.paddle.hapi._callbacks", f"{CALLBACKS} CallbackList")
provide("gradtool.paddle.hapi.callbacks", "gradtool.paddle.hapi._callbacks", "config_callbacks")
provide("gradtool.paddle.hapi.callbacks", "gradtool.paddle.hapi._progress", "ProgressBar")
provide(
    "gradtool.paddle.hapi.model",
    "gradtool.paddle.hapi._lists",
    "extract_args flatten_list restore_flatten_list to_list to_numpy",
)
provide("gradtool.paddle.hapi.progressbar", "gradtool.paddle.hapi._progress", "ProgressBar")
for _package in ("gradtool.paddle.hapi", "gradtool.paddle.hapi.model_summary"):
    provide(_package, "gradtool.paddle._summary", "summary")
for _package in ("gradtool.paddle.hapi", "gradtool.paddle.hapi.dynamic_flops"):
    provide(_package, "gradtool.paddle.hapi._flops", "flops")
provide(
    "gradtool.paddle.amp.debugging",
    "gradtool.paddle.amp._numerics",
    "DebugMode TensorCheckerConfig check_layer_numerics check_numerics disable_tensor_checker enable_tensor_checker",
)
provide(
    "gradtool.paddle.amp.debugging",
    "gradtool.paddle.amp._operators",
    "collect_operator_stats disable_operator_stats_collection enable_operator_stats_collection",
)
provide("gradtool.paddle.amp.debugging", "gradtool.paddle.amp._comparing", "compare_accuracy")
provide(
    "gradtool.paddle.reader",
    "gradtool.paddle.reader._decorators",
    "buffered cache chain compose firstn map_readers multiprocess_reader shuffle xmap_readers",
)

provide(
    "gradtool.paddle.profiler",
    "gradtool.paddle.profiler._schedule",
    "ProfilerState ProfilerTarget SortedKeys SummaryView make_scheduler",
)
provide(
    "gradtool.paddle.profiler",
    "gradtool.paddle.profiler._profiler",
    "Profiler RecordEvent export_chrome_tracing load_profiler_result",
)
announce(
    "gradtool.paddle.profiler",
    "export_protobuf",
    "traces are written as JSON: use paddle.profiler.export_chrome_tracing",
)
provide("gradtool.paddle.audio", "gradtool.paddle.audio.backends", "info load save")
provide("gradtool.paddle.text", "gradtool.paddle.text._decoding", "ViterbiDecoder viterbi_decode")
provide(
    "gradtool.paddle.text", "gradtool.paddle.text.datasets", "Conll05st Imdb Imikolov Movielens UCIHousing WMT14 WMT16"
)
provide("gradtool.paddle.hub", "gradtool.paddle.hub", "help list load load_state_dict_from_url")
provide("gradtool.paddle.sysconfig", "gradtool.paddle.sysconfig", "get_include get_lib")
