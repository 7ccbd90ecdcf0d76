"""Prices of houses near Boston (Harrison and Rubinfeld 1978)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine.core.errors import FileFormatError
from gradtool.paddle._local_files import located
from gradtool.paddle.io._datasets import Dataset

from ._settings import part

URL = "http://paddlemodels.bj.bcebos.com/uci_housing/housing.data"
COLUMNS = 14
SHARE = 0.8
"""How many of the rows, from the first on, are for training."""


class UCIHousing(Dataset):
    """Thirteen numbers about each district, scaled by the mean and range of all, and the price of a house there.

    Args:
        data_file: the table of 14 columns; ``housing.data`` of the user's data sets when None.
        mode: ``"train"`` or ``"test"``.
        download: accepted for compatibility; nothing is downloaded.

    Raises:
        FileMissing: the file is not there (a FileNotFoundError); the hint says where to put it.
        FileFormatError: its numbers do not make rows of 14 (a ValueError).
        SettingError: another mode (an AssertionError).
    """

    def __init__(self, data_file: str | None = None, mode: str = "train", download: bool = True) -> None:
        self.mode = part(mode, "train", "test")
        path = located(data_file, "uci_housing", URL)
        try:
            numbers = np.array(path.read_text(encoding="utf-8").split(), np.float64)
        except ValueError as error:
            raise FileFormatError(str(path), "a table of numbers", str(error)) from None
        if numbers.size % COLUMNS:
            raise FileFormatError(str(path), f"rows of {COLUMNS} numbers", f"there are {numbers.size}")
        rows = numbers.reshape(-1, COLUMNS)
        inputs = rows[:, :-1]
        rows[:, :-1] = (inputs - inputs.mean(0)) / (inputs.max(0) - inputs.min(0))
        border = int(len(rows) * SHARE)
        self.data = rows[:border] if self.mode == "train" else rows[border:]

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        row = self.data[idx].astype("float32")
        return row[:-1], row[-1:]

    def __len__(self) -> int:
        return len(self.data)
