"""Compiled code on disk that is broken, gone or out of reach costs the time of compiling, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.jax.conftest import QUICK

PROGRAM = """
import shutil
import sys
from pathlib import Path

import jax
import numpy as np

import gradtool
from gradtool import paddle
from gradtool.paddle import static
from gradtool.engine.kernels.jax import disk

disk.FASTEST = -1  # whatever is compiled is kept
gradtool.set_backend("jax")
paddle.enable_static()
cache = Path(sys.argv[1])


def computed():
    jax.clear_caches()
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        x = static.data("x", [3], "float32")
        y = paddle.sum(paddle.tanh(x) * 2)
        given, = static.Executor().run(feed={"x": np.array([0, 1, 2], "float32")}, fetch_list=[y])
    np.testing.assert_allclose(given, 2 * np.tanh([0, 1, 2]).sum(), rtol=1e-6)
    return {p for p in cache.rglob("*") if p.is_file()}


"""

WRONG = """
kept = computed()
assert kept
for content in (b"no code", b""):
    for path in kept:
        path.write_bytes(content)
    computed()

shutil.rmtree(cache)
computed()

shutil.rmtree(cache, ignore_errors=True)
cache.write_text("no folder")  # also for root, whom no mode keeps from writing
assert not computed()

cache.unlink()
cache.mkdir(mode=0o500)
computed()
cache.chmod(0o700)
"""


def test_what_goes_wrong_with_the_cache_costs_time_alone(tmp_path: Path) -> None:
    done = _run(WRONG, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_a_cache_that_cannot_be_made_is_none(tmp_path: Path) -> None:
    (tmp_path / "gradtool").write_text("no folder", encoding="utf-8")
    done = _run("assert not computed()\nassert jax.config.jax_compilation_cache_dir is None\n", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def _run(case: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a case in a process of its own, whose user's cache is *home*."""
    env = {n: v for n, v in os.environ.items() if not n.startswith(("JAX_", "XLA_"))}
    env |= {"XDG_CACHE_HOME": str(home), "XLA_FLAGS": QUICK, "JAX_PLATFORMS": "cpu"}
    words = [sys.executable, "-W", "default", "-c", PROGRAM + case, str(home / "gradtool" / "jax")]
    return subprocess.run(words, env=env, capture_output=True, text=True, check=False)
