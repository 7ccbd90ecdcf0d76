"""``paddle.version``: the version of Paddle whose behaviour gradtool has, as a build without accelerators tells it."""

from __future__ import annotations

full_version = "3.3.1"
major, minor, patch = full_version.split(".")
rc = "0"
is_tagged = True
commit = "unknown"
with_mkl = "OFF"
cuda_version = cudnn_version = xpu_xre_version = xpu_xccl_version = xpu_xhpc_version = cinn_version = "False"
nccl_version = "0"
tensorrt_version = "None"
hip: None = None
hip_version: None = None
compiled_cuda_archs: list[str] = []

__all__ = [
    "cinn",
    "cuda",
    "cuda_archs",
    "cudnn",
    "hip",
    "nccl",
    "show",
    "tensorrt",
    "xpu",
    "xpu_xccl",
    "xpu_xhpc",
    "xpu_xre",
]


def cuda() -> str:
    """``"False"``."""
    return cuda_version


cudnn = cinn = xpu = xpu_xre = xpu_xccl = xpu_xhpc = cuda


def nccl() -> str:
    """``"0"``."""
    return nccl_version


def tensorrt() -> str:
    """``"None"``."""
    return tensorrt_version


def cuda_archs() -> list[str]:
    """None."""
    return compiled_cuda_archs


def show() -> None:
    """Print the version."""
    for name in ("full_version", "major", "minor", "patch", "rc"):
        print(f"{name}: {globals()[name]}")
    print(f"cuda: {cuda()}\ncudnn: {cudnn()}\nhip: {hip}\nnccl: {nccl()}")
    print(f"xpu_xre: {xpu_xre()}\nxpu_xccl: {xpu_xccl()}\nxpu_xhpc: {xpu_xhpc()}\ncinn: {cinn()}")
    print(f"tensorrt_version: {tensorrt()}\ncuda_archs: {cuda_archs()}")
