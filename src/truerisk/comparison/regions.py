"""The region of equivalence: the smallest difference that matters, of each measure."""

from collections.abc import Mapping

from truerisk.checks import check_number, shown
from truerisk.errors import InputError
from truerisk.measures.registry import base_and_average, find_measure

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
        return {name: _margin(region, name) for name in names}
    unknown = next((name for name in region if name not in names), None)
    if unknown is not None:
        listed = ", ".join(dict.fromkeys(names))
        raise InputError(f"`region` must name measures compared ({listed}); got {shown(unknown)}.")
    return {name: _margin(value, name) for name, value in region.items()}


def _margin(region: float, name: str) -> float:
    if check_number(region, "region", low=0.0, high=1e300) == 0:
        raise InputError("`region` must be above 0; got 0. A difference is never exactly 0.")
    low, high = find_measure(base_and_average(name)[0]).measure_range
    if region >= high - low:
        remedy = f" Write {region / 100:g} for {region:g} %." if 1 < region < 100 else ""
        raise InputError(
            f"`region` must be less than {high - low:g}, the largest difference that {name} can "
            f"have; got {region:g}.{remedy}"
        )
    return float(region)
