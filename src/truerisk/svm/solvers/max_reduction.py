"""A maximum that the compiler turns into vector instructions.

Problem   the largest of n numbers, as one loop
Given     the larger of two numbers, as often as there are numbers
Returns   the same as `max`, for numbers that are not NaN; in single precision where both are
Source    LLVM vectorises reductions by its intrinsic ``llvm.maxnum``; the compare-and-select that
          numba makes of `max` it does not
"""

from typing import Any, TypeVar

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, overload

Number = TypeVar("Number", float, np.float32)


def larger(first: Number, second: Number) -> Number:
    """Give the larger of two numbers; compiled, it is a single instruction.

    Examples
    --------
    >>> larger(1.0, 2.0)
    2.0
    """
    return max(first, second)


@intrinsic
def _maxnum(_context: Any, first: Any, second: Any) -> Any:  # noqa: ANN401
    number = types.float32 if first == second == types.float32 else types.float64

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        form = ir.FloatType() if number == types.float32 else ir.DoubleType()
        kind = ir.FunctionType(form, [form, form])
        function = builder.module.declare_intrinsic("llvm.maxnum", [form], fnty=kind)
        return builder.call(function, arguments, fastmath=("fast",))

    return number(number, number), generate


@overload(larger)
def _larger(first: Any, second: Any) -> Any:  # noqa: ANN401, ARG001
    def compiled(first: Any, second: Any) -> Any:  # noqa: ANN401
        return _maxnum(first, second)  # type: ignore[call-arg]  # numba fills in the context

    return compiled
