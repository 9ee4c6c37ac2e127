"""What the examples contribute to one interior-point step, for many machines side by side.

Problem   that of `interior_point`, for `LANES` machines that differ in their bounds only
Given     `tile`, one row an example: for each number of `Row` the values of all machines, next to
          each other, so that the innermost loop runs over machines and every offset is known when
          compiled; `lanes`, the same for the numbers of `Lane`, one a machine
Method    As in `interior_point`, with its quotients gathered: with 1 / (surplus·rest +
          slack·share) known, prediction and correction need no further division, and µ after the
          predicted step is a quadratic with one unknown term.  A bound of 0 needs no branch: its
          example starts `FAR` from the margin, where it yields to nothing.
Cost      four passes a step and three divisions an example
"""

from numba import njit

from truerisk.aliases import Array
from truerisk.svm.solvers.max_reduction import larger

LANES = 64  # machines side by side
FAR = 1e150  # the surplus of an example that is left out; its square is a number still
FUSE = {"contract"}  # a product and a sum may be rounded once

# The rows of a tile, as offsets: bound U and 1/U, the state of `interior_point`, the margin r·u,
# 1 / (surplus·rest + slack·share), and the three steps.
BOUND, PER_BOUND, SHARE, REST, SURPLUS, SLACK, MARGIN, YIELD = (LANES * k for k in range(8))
D_SHARE, D_SURPLUS, D_SLACK = (LANES * k for k in range(8, 11))
TILE = LANES * 11

# The rows of `lanes`: Σ of the products α·surplus + (U − α)·slack, Σα, the length of the last step,
# the steepest descent towards a bound, the second order of the gap along the predicted step, the
# wanted µ, and what is left of the violations at the start.
GAP, MASS, STEP, STEEPEST, QUADRATIC, CENTRE, LEFT = (LANES * k for k in range(7))
LANE = LANES * 7


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=FUSE)
def advance(  # noqa: PLR0917 - compiled code takes no keywords
    tile: Array, first: Array, second: Array, lanes: Array, weights: Array, right: Array
) -> None:
    """Make the step, and write the weights and the right side of the next Newton system."""
    for r in range(LANES):
        lanes[GAP + r] = 0.0
        lanes[MASS + r] = 0.0
    for i in range(tile.shape[0]):
        row, g, h, weight, side = tile[i], first[i], second[i], weights[i], right[i]
        for r in range(LANES):
            step, upper = lanes[STEP + r], row[BOUND + r]
            share = row[SHARE + r] + step * row[D_SHARE + r]
            rest = row[REST + r] - step * row[D_SHARE + r]
            surplus = row[SURPLUS + r] + step * row[D_SURPLUS + r]
            slack = row[SLACK + r] + step * row[D_SLACK + r]
            margin = row[MARGIN + r] + step * (g[r] + h[r])
            per = 1.0 / (surplus * rest + slack * share)
            pull = upper * (share * rest * per)
            row[SHARE + r] = share
            row[REST + r] = rest
            row[SURPLUS + r] = surplus
            row[SLACK + r] = slack
            row[MARGIN + r] = margin
            row[YIELD + r] = per
            weight[r] = pull
            side[r] = upper * share + pull * (1.0 - margin)
            lanes[GAP + r] += upper * (share * surplus + rest * slack)
            lanes[MASS + r] += upper * share


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=FUSE)
def predict(tile: Array, first: Array, lanes: Array) -> None:
    """See how far the predicted step may go, and what the gap would be."""
    for r in range(LANES):
        lanes[STEEPEST + r] = 0.0
        lanes[QUADRATIC + r] = 0.0
    for i in range(tile.shape[0]):
        row, g = tile[i], first[i]
        for r in range(LANES):
            share, rest = row[SHARE + r], row[REST + r]
            pull = row[YIELD + r] * (1.0 - row[MARGIN + r] - g[r])
            up, down = pull * rest, pull * share  # the change of share by share and by rest
            steepest = larger(larger(-up, down), larger(1.0 + up, 1.0 - down))
            lanes[STEEPEST + r] = larger(lanes[STEEPEST + r], steepest)
            bend = row[SLACK + r] * (1.0 - down) - row[SURPLUS + r] * (1.0 + up)
            lanes[QUADRATIC + r] += row[BOUND + r] * (share * up * bend)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=FUSE)
def correct(tile: Array, first: Array, lanes: Array, right: Array) -> None:
    """Write what the centre and the second order add to the right side."""
    for i in range(tile.shape[0]):
        row, g, side = tile[i], first[i], right[i]
        for r in range(LANES):
            share, rest, per = row[SHARE + r], row[REST + r], row[YIELD + r]
            pull = per * (1.0 - row[MARGIN + r] - g[r])
            up, down = pull * rest, pull * share
            second = row[SURPLUS + r] * (up * (1.0 + up)) + row[SLACK + r] * (down * (1.0 - down))
            centred = lanes[CENTRE + r] * (rest - share)
            side[r] = per * (centred + row[BOUND + r] * (share * rest * second))


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=FUSE)
def direct(tile: Array, first: Array, second: Array, lanes: Array) -> None:
    """Write the three steps of every example, and how far they may go."""
    for r in range(LANES):
        lanes[STEEPEST + r] = 0.0
    for i in range(tile.shape[0]):
        row, g, h = tile[i], first[i], second[i]
        for r in range(LANES):
            share, rest, per = row[SHARE + r], row[REST + r], row[YIELD + r]
            surplus, slack = row[SURPLUS + r], row[SLACK + r]
            want = 1.0 - row[MARGIN + r] - g[r]
            up, down = per * want * rest, per * want * share
            bend, bend_rest = surplus * (up * (1.0 + up)), slack * (down * (1.0 - down))
            centre = lanes[CENTRE + r] * row[PER_BOUND + r]
            both = share * rest
            d_share = per * (both * (want - h[r] + bend + bend_rest) + centre * (rest - share))
            per_both, per_margins = 1.0 / both, 1.0 / (surplus * slack)
            up, down = d_share * (rest * per_both), d_share * (share * per_both)
            d_surplus = bend - surplus - surplus * up + centre * (rest * per_both)
            d_slack = slack * down - slack - bend_rest + centre * (share * per_both)
            shrink = larger(-d_surplus * (slack * per_margins), -d_slack * (surplus * per_margins))
            steepest = larger(larger(-up, down), shrink)
            lanes[STEEPEST + r] = larger(lanes[STEEPEST + r], steepest)
            row[D_SHARE + r] = d_share
            row[D_SURPLUS + r] = d_surplus
            row[D_SLACK + r] = d_slack
