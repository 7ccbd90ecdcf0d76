"""The table of public names of what training scripts import beside layers: package, defining module, names."""

from __future__ import annotations

from ._absent import DISTRIBUTED
from ._lazy import announce, provide

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

provide(
    "gradtool.distributed",
    "gradtool.distributed._parallel",
    "DataParallel ParallelEnv ReduceOp get_rank get_world_size init_parallel_env is_available is_initialized",
)
provide("gradtool", "gradtool.distributed._parallel", "DataParallel")
announce(
    "gradtool.distributed",
    "all_gather all_gather_object all_reduce alltoall barrier broadcast broadcast_object_list gather irecv isend "
    "launch new_group recv reduce reduce_scatter scatter send spawn split",
    DISTRIBUTED,
)
provide(
    "gradtool.distributed.fleet",
    "gradtool.distributed.fleet._one_process",
    "DistributedStrategy distributed_model distributed_optimizer init is_first_worker worker_index worker_num",
)
provide(
    "gradtool.jit",
    "gradtool.jit._functions",
    "enable_to_static ignore_module load not_to_static save to_static",
)
provide("gradtool.static", "gradtool.static._input_spec", "InputSpec")
provide("gradtool", "gradtool.hapi", "Model flops")
provide("gradtool", "gradtool._late_values", "LazyGuard")
provide("gradtool", "gradtool._saving", "async_save clear_async_save_task_queue")
