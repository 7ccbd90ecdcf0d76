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
