"""Tables of which only some rows matter: gradients of look-ups, and what an update of such rows leaves.

Both are arrays to whoever does not know them: NumPy turns them into a dense one when a function needs that. Arithmetic
that leaves the other rows as they are stays with the rows, so that its cost follows their number and not the table's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

Array = np.ndarray[Any, Any]


class RowArray(NDArrayOperatorsMixin):
    """Base of :class:`SelectedRows` and :class:`RowUpdate`.

    Attributes:
        shape, dtype: those of the whole table.
    """

    __slots__ = ("__weakref__", "dtype", "shape")
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def dense(self) -> Array:
        """The whole table, newly made."""
        raise TypeError(f"{type(self).__name__} does not say what it stands for")

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        whole = self.dense()
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*map(_dense, inputs), **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return self.dense()[index]

    def __getattr__(self, name: str) -> Any:
        # Any other method of arrays acts on the whole table. Special names are protocols that hand out memory.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dense(), name)


class SelectedRows(RowArray):
    """A table that is zero but for some rows; a row that is listed several times counts as their sum.

    Args:
        rows: the indices, one-dimensional.
        values: one row for each of them.
        height: how many rows the whole table has.

    >>> grad = SelectedRows(np.array([2, 0, 2]), np.ones((3, 2)), 4)
    >>> grad.merged().rows.tolist(), grad.merged().values.tolist()
    ([0, 2], [[1.0, 1.0], [2.0, 2.0]])
    >>> (grad * 0.5 + grad).nbytes < np.asarray(grad).nbytes * 3
    True
    """

    __slots__ = ("_merged", "_pieces")

    def __init__(self, rows: Array, values: Array, height: int) -> None:
        self._pieces: tuple[tuple[Array, Array], ...] = ((rows, values),)
        self._merged: SelectedRows | None = None
        self.shape = (height, *values.shape[1:])
        self.dtype = values.dtype

    @property
    def height(self) -> int:
        return self.shape[0]

    @property
    def rows(self) -> Array:
        """The indices, in the order in which they came."""
        self._join()
        return self._pieces[0][0]

    @property
    def values(self) -> Array:
        """The rows that belong to :attr:`rows`."""
        self._join()
        return self._pieces[0][1]

    @property
    def nbytes(self) -> int:
        """Bytes that it holds."""
        return sum(r.nbytes + v.nbytes for r, v in self._pieces)

    def _join(self) -> None:
        # Sums only collect: joining at each of them would copy the first piece as often as there are others.
        if len(self._pieces) > 1:
            rows, values = zip(*self._pieces, strict=True)
            self._pieces = ((np.concatenate(rows), np.concatenate(values)),)

    def merged(self) -> SelectedRows:
        """The same with every row once, in ascending order."""
        if self._merged is None:
            rows, values = self.rows, self.values
            if rows.size < 2 or bool((rows[1:] > rows[:-1]).all()):
                self._merged = self
            else:
                unique_rows, back = np.unique(rows, return_inverse=True)
                total = np.zeros((unique_rows.size, *values.shape[1:]), values.dtype)
                np.add.at(total, back.reshape(-1), values)
                self._merged = SelectedRows(unique_rows, total, self.height)
        return self._merged

    def dense(self) -> Array:
        merged = self.merged()
        whole = np.zeros(self.shape, self.dtype)
        whole[merged.rows] = merged.values
        return whole

    def replace_values(self, values: Array) -> SelectedRows:
        """Other values for the same rows."""
        return SelectedRows(self.rows, values, self.height)

    def copy(self) -> SelectedRows:
        return self.replace_values(self.values.copy())

    def astype(self, dtype: Any, copy: bool = True) -> SelectedRows:
        return self.replace_values(self.values.astype(dtype, copy=copy))

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The sum of all elements; along an axis, of the whole table."""
        if axis is None and out is None and not keepdims:
            return self.values.sum(dtype=dtype)
        return self.dense().sum(axis=axis, dtype=dtype, out=out, keepdims=keepdims)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and kwargs.keys() <= {"out"}:
            out = kwargs.get("out")
            if ufunc in (np.add, np.subtract) and len(inputs) == 2:
                result = _add(ufunc, *inputs, out[0] if out else None)
                if result is not None:
                    return result
            if not out:
                result = _row_by_row(ufunc, inputs)
                if result is not None:
                    return result
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)

    def __repr__(self) -> str:
        return f"SelectedRows(rows={self.rows.tolist()}, height={self.height}, values={self.values!r})"


class RowSum(RowArray):
    """The dense sum of the gradients of look-ups, as long as it is not made: a table of zeros but for some rows.

    The values are those of dense tables that are added one after the other, to the bit: rows that a look-up has several
    times are summed first.

    Args:
        rows: the indices of one look-up, one-dimensional.
        values: one row for each of them.
        shape: that of the table.

    >>> total = RowSum(np.array([2, 0, 2]), np.ones((3, 2)), (3, 2)) + RowSum(np.array([2]), np.ones((1, 2)), (3, 2))
    >>> total.dense().tolist()
    [[1.0, 1.0], [0.0, 0.0], [3.0, 3.0]]
    """

    __slots__ = ("_pieces",)

    def __init__(self, rows: Array, values: Array, shape: tuple[int, ...]) -> None:
        self._pieces = [(rows, values)]
        self.shape = shape
        self.dtype = values.dtype

    @property
    def rows(self) -> list[Array]:
        """The indices of each look-up: elsewhere are zeros."""
        return [rows for rows, _ in self._pieces]

    def dense(self) -> Array:
        whole = np.zeros(self.shape, self.dtype)
        self.add_to(whole)
        return whole

    def add_to(self, table: Array) -> None:
        """Add it to *table*, in place."""
        for rows, values in self._pieces:
            unique_rows, sums = _sum_rows(rows, values, self.shape[0])
            table[unique_rows] += sums

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc is np.add and method == "__call__" and not kwargs:
            before, after = inputs
            if isinstance(before, RowSum) and isinstance(after, RowSum) and len(after._pieces) == 1:
                total = RowSum.__new__(RowSum)
                total._pieces = before._pieces + after._pieces
                total.shape, total.dtype = before.shape, before.dtype
                return total
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)


def _sum_rows(rows: Array, values: Array, height: int) -> tuple[Array, Array]:
    """Each of the *rows* once, in any order, and the sum of its *values* in theirs."""
    order = np.arange(rows.size)
    one_of = np.empty(height, np.intp)
    one_of[rows] = order  # of equal rows, one has its number stay
    at = one_of[rows]
    stays = at == order
    if stays.all():
        return rows, values
    is_sum = np.zeros(rows.size, bool)
    is_sum[at[~stays]] = True
    members = is_sum[at].nonzero()[0]
    sums = values.copy()
    sums[is_sum] = 0
    # element by element in one flat array: several times quicker than adding rows
    width = values.shape[1]
    places = ((at[members] * width)[:, None] + np.arange(width)).reshape(-1)
    np.add.at(sums.reshape(-1), places, values[members].reshape(-1))
    return rows[stays], sums[stays]


class RowUpdate(RowArray):
    """A table in which some rows have new values.

    Whoever holds the table may write them into it (:meth:`apply_to`); to everyone else this is a new table.

    Args:
        base: the table before.
        rows: different indices.
        values: their new rows.
    """

    __slots__ = ("base", "rows", "values")

    def __init__(self, base: Any, rows: Array, values: Array) -> None:
        self.base = _dense(base)
        self.rows = rows
        self.values = values
        self.shape = self.base.shape
        self.dtype = self.base.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the whole table."""
        return int(self.base.nbytes)

    def dense(self) -> Array:
        whole = np.array(self.base)
        whole[self.rows] = self.values
        return whole

    def apply_to(self, table: Array) -> None:
        """Make *table* what this stands for; touches the rows alone if it is the table before."""
        if table is not self.base:
            np.copyto(table, self.base)
        table[self.rows] = self.values

    def __repr__(self) -> str:
        return f"RowUpdate({len(self.rows)} of {self.shape[0]} rows)"


def _dense(value: Any) -> Any:
    return value.dense() if isinstance(value, RowArray) else value


def _add(ufunc: Any, x: Any, y: Any, out: Any) -> Any:
    """*x* plus or minus *y*, tables of one shape; None where they are not."""
    if getattr(x, "shape", None) != getattr(y, "shape", None):
        return None
    if isinstance(x, SelectedRows) and isinstance(y, SelectedRows):
        if out is not None:
            return None
        total = SelectedRows.__new__(SelectedRows)
        total._pieces = x._pieces + (y._pieces if ufunc is np.add else (-y)._pieces)
        total._merged = None
        total.shape = x.shape
        total.dtype = np.result_type(x.dtype, y.dtype)
        return total
    if isinstance(x, SelectedRows):
        if ufunc is not np.add:
            return None
        x, y = y, x
    if not isinstance(x, np.ndarray) or not isinstance(y, SelectedRows):
        return None
    y = y.merged()
    if out is None:
        out = x.astype(np.result_type(x.dtype, y.dtype))
    elif out is not x:
        np.copyto(out, x)
    out[y.rows] = ufunc(out[y.rows], y.values)
    return out


def _row_by_row(ufunc: Any, inputs: tuple[Any, ...]) -> Any:
    """The function on the rows alone, if it makes zeros of zeros; else None."""
    tables = [v.merged() for v in inputs if isinstance(v, SelectedRows)]
    first = tables[0]
    for v in inputs:
        if not isinstance(v, SelectedRows) and np.size(v) != 1:
            return None
    if not all(t.rows is first.rows or np.array_equal(t.rows, first.rows) for t in tables[1:]):
        return None
    if ufunc.nout != 1:
        return None
    numbers = [v if isinstance(v, (SelectedRows, int, float)) else np.reshape(v, ()) for v in inputs]
    elsewhere = ufunc(*[np.zeros((), v.dtype) if isinstance(v, SelectedRows) else v for v in numbers])
    if elsewhere != 0:
        return None
    values = ufunc(*[v.merged().values if isinstance(v, SelectedRows) else v for v in numbers])
    return first.replace_values(values)
