"""The region of equivalence: the smallest difference that matters, of each measure."""

from collections.abc import Mapping

from truerisk.checks import check_number, shown
from truerisk.errors import InputError

Region = float | Mapping[str, float] | None


def margins_of(region: Region, names: list[str]) -> dict[str, float]:
    """Give the region of each measure: one for all, or each its own.

    Examples
    --------
    >>> margins_of(0.01, ["f1", "recall"]), margins_of({"f1": 0.02}, ["f1", "recall"])
    ({'f1': 0.01, 'recall': 0.01}, {'f1': 0.02})
    """
    if region is None:
        return {}
    if not isinstance(region, Mapping):
        return dict.fromkeys(names, _margin(region))
    unknown = next((name for name in region if name not in names), None)
    if unknown is not None:
        listed = ", ".join(dict.fromkeys(names))
        raise InputError(f"`region` must name measures compared ({listed}); got {shown(unknown)}.")
    return {name: _margin(value) for name, value in region.items()}


def _margin(region: float) -> float:
    if check_number(region, "region", low=0.0, high=1e300) == 0:
        raise InputError("`region` must be above 0; got 0. A difference is never exactly 0.")
    return float(region)
