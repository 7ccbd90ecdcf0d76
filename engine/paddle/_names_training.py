"""The table of public names of what training scripts import beside layers: package, defining module, names."""

from __future__ import annotations

from ._lazy import provide

provide(
    "gradtool.paddle.io",
    "gradtool.paddle.io._datasets",
    "ChainDataset ComposeDataset ConcatDataset Dataset IterableDataset Subset TensorDataset random_split",
)
provide(
    "gradtool.paddle.io",
    "gradtool.paddle.io._samplers",
    "RandomSampler Sampler SequenceSampler SubsetRandomSampler WeightedRandomSampler",
)
provide("gradtool.paddle.io", "gradtool.paddle.io._batches", "BatchSampler DistributedBatchSampler")
provide("gradtool.paddle.io", "gradtool.paddle.io._loader", "DataLoader")
provide("gradtool.paddle.io", "gradtool.paddle.io._workers", "get_worker_info")

provide("gradtool.paddle.metric", "gradtool.paddle.metric._metrics", "Accuracy Auc Metric Precision Recall accuracy")
provide(
    "gradtool.paddle",
    "gradtool.paddle.amp._casting",
    "autocast get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype is_autocast_enabled",
)

provide("gradtool.paddle", "gradtool.paddle.distributed._parallel", "DataParallel")
provide(
    "gradtool.paddle.jit",
    "gradtool.paddle.jit._functions",
    "enable_to_static ignore_module json_to_pdmodel not_to_static set_code_level set_verbosity to_static",
)
provide("gradtool.paddle.jit", "gradtool.paddle.jit._saving", "save")
provide("gradtool.paddle.jit", "gradtool.paddle.jit._translated", "TranslatedLayer load")
provide("gradtool.paddle.static", "gradtool.paddle.static._input_spec", "InputSpec")
provide("gradtool.paddle", "gradtool.paddle.hapi", "Model flops")
provide("gradtool.paddle", "gradtool.paddle._late_values", "LazyGuard")
