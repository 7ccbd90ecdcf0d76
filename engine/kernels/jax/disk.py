"""Compiled code on disk: JAX's own cache, in the user's cache folder. Without it, compiling takes its time."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax

from ...files import user_cache

FASTEST = 0.05
"""Seconds of compiling below which the code is not kept."""


def keep_compiled_code() -> None:
    """Have JAX keep it, unless the user has said where, or that nothing is kept (``JAX_COMPILATION_CACHE_DIR``, …)."""
    said: Any = jax.config
    if said.jax_compilation_cache_dir is not None or not said.jax_enable_compilation_cache:
        return
    path = user_cache.make_folder("jax")
    if path is None or not user_cache.holds_users_files(path):  # JAX runs whatever lies there
        return
    jax.config.update("jax_compilation_cache_dir", str(path))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", FASTEST)
    # What cannot be read or written there is compiled as if it were not there; nobody has to be told.
    warnings.filterwarnings("ignore", message="Error (reading|writing) persistent compilation cache entry")


@contextmanager
def match_names() -> Iterator[None]:
    """Inside, compiled code is taken from there only if its operations have the same names, too."""
    flag = "jax_compilation_cache_include_metadata_in_key"
    before = getattr(jax.config, flag)
    jax.config.update(flag, True)
    try:
        yield
    finally:
        jax.config.update(flag, before)
