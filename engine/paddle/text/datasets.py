"""``paddle.text.datasets``: read from archives that lie on this machine."""

from __future__ import annotations

from gradtool.paddle import _lazy

from ._housing import UCIHousing
from ._movies import Movielens
from ._reviews import Imdb, Imikolov
from ._roles import Conll05st
from ._translations import WMT14, WMT16

__path__: list[str] = []  # there are modules below it, in the table of old paths
__all__ = ["WMT14", "WMT16", "Conll05st", "Imdb", "Imikolov", "Movielens", "UCIHousing"]

__getattr__ = _lazy.refuse(__name__, globals())
