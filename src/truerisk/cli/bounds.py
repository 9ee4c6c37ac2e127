"""`truerisk bounds`: every interval and bound of an error rate, from counts."""

import click

from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.reporting.wording import interval_heading
from truerisk.results import number

PROMISES = {
    "clopper_pearson": "exact: at least the level, for every error rate",
    "one_sided": "exact, of the upper end alone",
    "gaussian": "breaks at few errors",
    "chernoff_kl": "at least the level, for any losses in [0, 1]",
    "empirical_bernstein": "the same, by the variance of the losses",
    "hoeffding": "the same, by nothing but the number of examples",
    "chebyshev": "the same, as the variance is at most 1/(4n)",
    "vc_bound": "if these are training errors: for all rules of that VC dimension",
    "vapnik_chervonenkis": "the same, two-sided, an older form; neither follows from the other",
    "kearns_ron": "if these are leave-one-out errors of a rule with the fewest training errors",
}


@click.command()
@click.argument("errors", type=int)
@click.argument("examples", type=int)
@opt.option("--vc-dimension", "VC dimension; d features and a bias: d + 1.", float)
@opt.level
@out.formats("json", "csv")
def bounds(
    errors: int, examples: int, vc_dimension: float | None, level: float, form: str | None
) -> None:
    """Bound an error rate by ERRORS of EXAMPLES, in every way that needs no more than counts.

    \b
    truerisk bounds 12 300
    truerisk bounds 12 300 --vc-dimension 11 --level 0.99
    """
    from truerisk.intervals.bounds import error_bounds

    intervals = error_bounds(errors, examples, vc_dimension=vc_dimension, level=level)
    if form is not None:
        rows = [(name, one.low, one.high, one.level, one.side) for name, one in intervals.items()]
        out.show_rows("bounds", ("method", "low", "high", "level", "side"), rows, form)
        return
    click.echo(f"{errors:,} errors of {examples:,}: {number(errors / examples, 4)}")
    written = [
        (name.replace("_", " "), one.words(lambda end: number(end, 4)), PROMISES[name])
        for name, one in intervals.items()
    ]
    out.show_rows("Bounds", ("method", interval_heading(level), "promise"), written)
