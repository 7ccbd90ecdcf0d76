"""``paddle.utils.download``: files that are already in the cache. gradtool loads nothing from the network."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from gradtool.engine.core.errors import FileMissing, UsageError

__all__ = ["get_path_from_url", "get_weights_path_from_url"]


class ChecksumError(UsageError, RuntimeError):
    """A file in the cache has other contents than expected (Paddle raises RuntimeError once it cannot download)."""


WEIGHTS_HOME = os.path.expanduser("~/.cache/paddle/hapi/weights")


def is_url(path: str) -> bool:
    """Return True for an address that begins with http:// or https://."""
    return path.startswith(("http://", "https://"))


def _map_path(url: str, root_dir: str) -> str:
    """Return the path of the file of that address below *root_dir*."""
    return os.path.join(root_dir, os.path.split(url)[-1])


def _md5check(fullname: str, md5sum: str | None = None) -> bool:
    """Return True for a file with that MD5 sum; for every file where none is given."""
    return md5sum is None or hashlib.md5(Path(fullname).read_bytes(), usedforsecurity=False).hexdigest() == md5sum


def _get_unique_endpoints(trainer_endpoints: list[str]) -> set[str]:
    """Return the first of the addresses ``host:port`` of each host."""
    first: dict[str, str] = {}
    for endpoint in sorted(trainer_endpoints):
        first.setdefault(endpoint.split(":")[0], endpoint)
    return set(first.values())


def cache() -> Path:
    """Return the folder where Paddle keeps weights that it has downloaded."""
    return Path(os.path.expanduser("~")) / ".cache" / "paddle" / "hapi" / "weights"


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """The path of the file of that address in the cache of weights.

    Raises:
        FileMissing: it is not there (a FileNotFoundError); put it there yourself.
        ChecksumError: it is another file (a RuntimeError).
    """
    return get_path_from_url(url, str(cache()), md5sum)


def get_path_from_url(
    url: str,
    root_dir: str,
    md5sum: str | None = None,
    check_exist: bool = True,
    decompress: bool = True,
    method: str = "get",
) -> str:
    """The path of the file of that address below *root_dir*; of an archive, the folder that it was unpacked to.

    Raises:
        UsageError: no address (a ValueError).
        FileMissing: it is not there (a FileNotFoundError).
        ChecksumError: it is another file (a RuntimeError).
    """
    if not is_url(url):
        raise UsageError(f"downloading from url only support http or https, but received {url!r}.")
    path = Path(root_dir) / url.split("?")[0].rsplit("/", 1)[-1]
    folder = path.with_name(path.name.split(".tar")[0].removesuffix(".zip").removesuffix(".tgz"))
    if decompress and folder != path and folder.is_dir():
        return str(folder)
    if not path.is_file():
        raise FileMissing(
            f"{path} does not exist, and gradtool downloads nothing.", hint=f"download {url} and put it there"
        )
    if not _md5check(str(path), md5sum):
        raise ChecksumError(f"{path} has another md5sum than {md5sum}.", hint=f"download {url} again and put it there")
    return str(path)
