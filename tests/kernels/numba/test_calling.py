"""What calls the functions of a group: operands that they are not for, registers, references, and what fails."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np
import pytest

from gradtool.engine.kernels.numba.compiling import callable_of
from gradtool.engine.kernels.numba.group_function import (
    ARGUMENT,
    CONTIGUOUS,
    NOTHING,
    RESULT,
    STRIDED,
    CallRegisters,
    ComputedArray,
    Function,
    GroupCall,
    Limit,
    OperandRequirement,
)
from tests.kernels.numba.interpreted import CALLED

DOUBLE, WHOLE = np.dtype("float64"), np.dtype("int32")


def summing(places: Any, numbers: Any) -> None:
    """Adds three numbers to three."""
    x, out = ((ctypes.c_double * 3).from_address(places[i]) for i in range(2))
    for i in range(3):
        out[i] += x[i]


_callback = CALLED(summing)
FUNCTION = Function(ctypes.cast(_callback, ctypes.c_void_p).value or 0, np.zeros(1, np.int64), _callback)


def call(*results: ComputedArray, **changes: Any) -> GroupCall:
    """Sums of three numbers and zeros, twice: into the first of *results*, and from there into the second."""
    stages = [(FUNCTION, [0, 1]), (FUNCTION, [1, 2])][: len(results)]
    given = [(RESULT, 0), (ARGUMENT, 0), (NOTHING, None)]
    whole = GroupCall([OperandRequirement((3,), DOUBLE, CONTIGUOUS)], [], [0], results, stages, given, False)
    return whole._replace(**changes)


SUM = ComputedArray((3,), DOUBLE, True, False)


def test_results_go_into_registers_and_references_stay_counted() -> None:
    x = np.arange(3.0)
    compute = callable_of(call(SUM), CallRegisters([2], [0, 3, 1], [2]))
    for _ in range(50):
        registers: list[Any] = [None, "before", x, None]
        assert compute(registers) is True
        np.testing.assert_array_equal(registers[0], x)
        assert registers[1:3] == [None, None]
        assert registers[3] is x
        counted, alike = sys.getrefcount(registers[0]), [np.zeros(3)]
        expected = sys.getrefcount(alike[0])
        assert counted == expected
        del registers
    counted = sys.getrefcount(x)
    assert counted == expected


def test_what_lies_between_functions_begins_with_zeros_in_every_call() -> None:
    inner = ComputedArray((3,), DOUBLE, True, True)
    compute = callable_of(call(inner, SUM, given=[(RESULT, 1)]), CallRegisters([0], [1]))
    for _ in range(3):
        registers: list[Any] = [np.arange(3.0), None]
        assert compute(registers)
        np.testing.assert_array_equal(registers[1], np.arange(3.0))


@pytest.mark.parametrize(
    "other",
    [None, 2.0, [0.0, 1.0, 2.0], np.zeros(4), np.zeros((1, 3)), np.zeros(3, "float32"), np.zeros(6)[::2]],
    ids=["nothing", "number", "list", "longer", "rank", "type", "gaps"],
)
def test_operands_that_it_is_not_for_change_nothing(other: Any) -> None:
    registers = [other, "before", None, None]
    assert callable_of(call(SUM), CallRegisters([0], [1, 2, 3], [0]))(registers) is False
    assert registers[0] is other
    assert registers[1:] == ["before", None, None]


def test_elements_that_lie_apart_as_they_did_are_taken() -> None:
    arguments = [OperandRequirement((3,), DOUBLE, STRIDED, (16,))]
    compute = callable_of(call(SUM, arguments=arguments), CallRegisters([0], [1, 2, 3]))
    assert compute([np.zeros(6)[::2], None, None, None])
    assert not compute([np.zeros(9)[::3], None, None, None])
    assert not compute([np.zeros(3), None, None, None])


@pytest.mark.parametrize("dtype", [WHOLE, np.dtype("int64")])
def test_whole_numbers_below_zero_and_from_the_end_on_are_refused(dtype: np.dtype[Any]) -> None:
    arguments = [OperandRequirement((3,), DOUBLE, CONTIGUOUS), OperandRequirement((2,), dtype, CONTIGUOUS)]
    compute = callable_of(
        call(SUM, arguments=arguments, limits=[Limit(1, dtype, 2, 5)]), CallRegisters([0, 1], [2, 3, 4])
    )
    for numbers, fit in (([0, 4], True), ([4, 5], False), ([-1, 0], False), ([0, np.iinfo(dtype).min], False)):
        assert compute([np.zeros(3), np.array(numbers, dtype), None, None, None]) is fit


def test_where_there_is_no_memory_nothing_is_lost() -> None:
    x, too_large = np.arange(3.0), ComputedArray((2**60,), DOUBLE, False, False)
    compute = callable_of(call(SUM, too_large), CallRegisters([0], [1, 2, 3], [0]))
    registers = [x, "before", None, None]
    before = sys.getrefcount(DOUBLE)
    for _ in range(20):
        with pytest.raises((MemoryError, ValueError)):
            compute(registers)
    assert registers == [x, "before", None, None]
    counted = sys.getrefcount(x)
    assert counted == 3
    assert sys.getrefcount(DOUBLE) - before < 10
    with pytest.raises(SystemError):
        compute({0: x})  # type: ignore[arg-type]
