"""JAX before it is imported: programs run once, so compiling them well does not pay; the CPU is eight devices."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

DEVICES = "--xla_force_host_platform_device_count=8"
QUICK = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"

os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {QUICK} {DEVICES}".strip()


@pytest.fixture
def static_programs() -> Iterator[None]:
    """Static mode; afterwards dynamic mode, and the backend that was there before."""
    from gradtool import paddle
    from gradtool.engine.core import settings

    with settings.keep_settings():
        paddle.enable_static()
        yield
        paddle.disable_static()
