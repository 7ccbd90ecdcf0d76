"""The table of public names of what training scripts import beside layers: package, defining module, names."""

from __future__ import annotations

from ._lazy import provide

provide(
    "gradtool.io",
    "gradtool.io._datasets",
    "ChainDataset ComposeDataset ConcatDataset Dataset IterableDataset Subset TensorDataset random_split",
)
provide(
    "gradtool.io",
    "gradtool.io._samplers",
    "RandomSampler Sampler SequenceSampler SubsetRandomSampler WeightedRandomSampler",
)
provide("gradtool.io", "gradtool.io._batches", "BatchSampler DistributedBatchSampler")
provide("gradtool.io", "gradtool.io._loader", "DataLoader")
provide("gradtool.io", "gradtool.io._workers", "get_worker_info")

provide("gradtool.metric", "gradtool.metric._metrics", "Accuracy Auc Metric Precision Recall accuracy")
provide(
    "gradtool",
    "gradtool.amp._casting",
    "autocast get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype is_autocast_enabled",
)

provide("gradtool", "gradtool.distributed._parallel", "DataParallel")
provide(
    "gradtool.jit",
    "gradtool.jit._functions",
    "enable_to_static ignore_module json_to_pdmodel not_to_static set_code_level set_verbosity to_static",
)
provide("gradtool.jit", "gradtool.jit._saving", "save")
provide("gradtool.jit", "gradtool.jit._translated", "TranslatedLayer load")
provide("gradtool.static", "gradtool.static._input_spec", "InputSpec")
provide("gradtool", "gradtool.hapi", "Model flops")
provide("gradtool", "gradtool._late_values", "LazyGuard")
