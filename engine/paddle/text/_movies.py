"""Ratings of films (Harper and Konstan 2015)."""

from __future__ import annotations

import re
import zipfile
from typing import Any

import numpy as np

from gradtool.paddle._local_files import located
from gradtool.paddle.io._datasets import Dataset

from ._settings import part

URL = "https://dataset.bj.bcebos.com/movielens%2Fml-1m.zip"
AGES = (1, 18, 25, 35, 45, 50, 56)
TITLE = re.compile(r"^(.*)\((\d+)\)$")


class Movielens(Dataset):
    """Users, films and ratings: numbers of each user, sex, age and occupation, of the film, its kinds and title.

    Words and kinds have the numbers of their alphabetical order (in Paddle these differ from run to run). A rating
    from 1 to 5 stars is a number from -3 to 5.

    Args:
        data_file: the archive ``ml-1m.zip``; that of the user's data sets when None.
        mode: ``"train"`` or ``"test"``.
        test_ratio, rand_seed: how many of the ratings are drawn for the test, and by which seed.
        download: accepted for compatibility; nothing is downloaded.

    Raises:
        FileMissing: the file is not there (a FileNotFoundError); the hint says where to put it.
        SettingError: another mode (an AssertionError).
    """

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        test_ratio: float = 0.1,
        rand_seed: int = 0,
        download: bool = True,
    ) -> None:
        self.mode = part(mode, "train", "test")
        self.test_ratio, self.rand_seed = test_ratio, rand_seed
        path = located(data_file, "movielens", URL)
        with zipfile.ZipFile(path) as archive:
            films, users, ratings = (
                [line.split("::") for line in archive.read(f"ml-1m/{n}.dat").decode("latin").splitlines() if line]
                for n in ("movies", "users", "ratings")
            )
        matches = {number: TITLE.match(title) for number, title, _ in films}
        titles = {n: (m.group(1) if m else "").strip().lower().split() for n, m in matches.items()}
        kinds = {number: k.split("|") for number, _, k in films}
        words = {w: i for i, w in enumerate(sorted({w for t in titles.values() for w in t}))}
        genres = {g: i for i, g in enumerate(sorted({g for k in kinds.values() for g in k}))}
        films_by_number = {n: [[int(n)], [genres[g] for g in kinds[n]], [words[w] for w in titles[n]]] for n in titles}
        users_by_number = {
            u[0]: [[int(u[0])], [0 if u[1] == "M" else 1], [AGES.index(int(u[2]))], [int(u[3])]] for u in users
        }
        draws = np.random.RandomState(rand_seed)
        self.data = []
        for user, film, stars, _ in ratings:
            if (draws.random_sample() < test_ratio) is (self.mode == "test"):
                rating = [[float(stars) * 2 - 5.0]]
                self.data.append([*users_by_number[user], *films_by_number[film], *rating])

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        return tuple(np.array(d) for d in self.data[idx])

    def __len__(self) -> int:
        return len(self.data)
