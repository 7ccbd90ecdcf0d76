"""The table of public names of ``paddle.distributed``."""

from __future__ import annotations

from ._lazy import announce, provide

HERE = "gradtool.paddle.distributed"
SEVERAL = "it divides a model among several devices, and gradtool computes in one process"

provide(
    HERE,
    "gradtool.paddle.distributed._parallel",
    "DataParallel ParallelEnv ReduceOp get_rank get_world_size init_parallel_env is_available is_initialized",
)
provide(
    HERE,
    "gradtool.paddle.distributed._groups",
    "destroy_process_group get_backend get_group new_group restart_process_group shutdown_process_group",
)
provide(
    HERE,
    "gradtool.paddle.distributed._collectives",
    "P2POp all_gather all_gather_object all_reduce alltoall alltoall_single barrier batch_isend_irecv broadcast "
    "broadcast_object_list gather irecv isend recv recv_object_list reduce reduce_scatter scatter "
    "scatter_object_list send send_object_list wait",
)
provide(HERE, "gradtool.paddle.distributed._starting", "launch spawn")
provide(
    HERE,
    "gradtool.paddle.distributed._mesh",
    "ParallelMode Partial Placement ProcessMesh ReduceType Replicate Shard ShardingStage1 ShardingStage2 "
    "ShardingStage3 dtensor_from_fn get_mesh group_sharded_parallel load_state_dict local_map reshard "
    "save_group_sharded_model save_state_dict set_mesh shard_dataloader shard_layer shard_op shard_optimizer "
    "shard_scaler shard_tensor unshard_dtensor",
)

FLEET = "gradtool.paddle.distributed.fleet"
provide(FLEET, f"{FLEET}._strategy", "DistributedStrategy")
provide(FLEET, f"{FLEET}._topology", "CommunicateTopology HybridCommunicateGroup")
provide(
    FLEET,
    f"{FLEET}._fleet",
    "Fleet PaddleCloudRoleMaker Role UserDefinedRoleMaker UtilBase all_reduce barrier_worker distributed_model "
    "distributed_optimizer distributed_scaler fleet get_hybrid_communicate_group get_log_level_code "
    "get_log_level_name init init_server init_worker is_coordinator is_first_worker is_server is_worker "
    "local_device_ids local_rank minimize node_num nranks rank rank_in_node run_server save_inference_model "
    "save_persistables server_endpoints server_index server_num set_log_level stop_worker util worker_endpoints "
    "worker_index worker_num world_device_ids world_size",
)
provide(f"{FLEET}.utils", "gradtool.engine.eager.recompute", "recompute")
provide(
    f"{FLEET}.meta_parallel",
    f"{FLEET}.meta_parallel._layers",
    "ColumnParallelLinear ParallelCrossEntropy RowParallelLinear VocabParallelEmbedding",
)
provide(f"{FLEET}.meta_parallel", f"{FLEET}.meta_parallel._pipeline", "LayerDesc PipelineLayer SharedLayerDesc")
provide(
    f"{FLEET}.meta_parallel",
    f"{FLEET}.meta_parallel._random",
    "RNGStatesTracker get_rng_state_tracker model_parallel_random_seed",
)
provide(f"{HERE}.communication.group", "gradtool.paddle.distributed._groups", "Group")
announce(FLEET, "auto", SEVERAL)

announce(
    f"{FLEET}.meta_parallel", "PipelineParallel SegmentParallel ShardingParallel TensorParallel get_spec_layer", SEVERAL
)
