"""The table of public names of ``paddle.incubate`` itself; its packages have theirs in other tables."""

from __future__ import annotations

from ._lazy import provide

provide("gradtool.incubate", "gradtool.geometric._segments", "segment_max segment_mean segment_min segment_sum")
provide(
    "gradtool.incubate",
    "gradtool.incubate._graphs",
    "graph_khop_sampler graph_reindex graph_sample_neighbors graph_send_recv",
)
