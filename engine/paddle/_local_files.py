"""Files of data sets: those that a script names, or those that lie where Paddle would have put them."""

from __future__ import annotations

from pathlib import Path

from gradtool.engine.core.errors import FileMissing

HOME = Path("~/.cache/paddle/dataset")
"""Where Paddle keeps data sets."""


def home() -> Path:
    """Return the folder where data sets of this user lie."""
    return HOME.expanduser()


def located(path: str | Path | None, folder: str, url: str) -> Path:
    """The file *path*, or the one that *url* names in *folder* of the user's data sets.

    Raises:
        FileMissing: it is not there (a FileNotFoundError); the hint says where to put it.
    """
    if path is not None:
        named = Path(path)
        if not named.is_file():
            raise FileMissing(f"{path} does not exist.", hint="pass the path of the file that the data set is in")
        return named
    name = url.replace("%2F", "/").rsplit("/", 1)[-1]
    here = home() / folder / name
    if not here.is_file():
        raise FileMissing(
            f"{here} does not exist, and gradtool downloads nothing.",
            hint=f"download {url} and put it there, or pass its path",
        )
    return here


def unpacked(folder: str, url: str, parent: Path | None = None) -> Path:
    """The folder *folder* of the user's data sets, into which the archive that *url* names was unpacked.

    Raises:
        FileMissing: it is not there (a FileNotFoundError); the hint says where to put it.
    """
    here = (parent or home()) / folder
    if not here.is_dir():
        raise FileMissing(
            f"{here} does not exist, and gradtool downloads nothing.",
            hint=f"download {url} and unpack it in {here.parent}",
        )
    return here
