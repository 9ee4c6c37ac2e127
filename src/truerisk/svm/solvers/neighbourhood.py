"""The examples near the margin, on which the linear machine is solved before all are looked at.

Problem   that of the linear machine, on some of its examples; the others keep their α
Given     all rows, α, w = Σᵢ yᵢαᵢxᵢ, the bias, and which examples are active
Returns   α and w in place, once the gradients of the active examples agree to the goal
Link      sweeps of coordinate descent find which α are free, and drop examples far on their side;
          Newton's step on the free ones ends what sweeps only come close to, and sets the bias
"""

import numpy as np
from numpy.typing import NDArray

from truerisk.svm.solution import Array
from truerisk.svm.solvers.coordinate_descent import sweep
from truerisk.svm.solvers.newton import newton_step
from truerisk.svm.solvers.rows import Rows

PENALTY = 0.05  # ρ, in units of the mean |x|²
MOST_SWEEPS = 60  # before the first Newton's step
MOST_TURNS = 30  # of Newton's step and sweep
MOST_STEPS = 300  # of conjugate gradients
QUIET = 0.05  # share of examples that may change sides in a sweep before Newton's step is worth it
ROUGH = 0.1  # accuracy of Newton's step while examples change sides, in parts of the spread
PATIENT_PENALTY = 10.0  # times ρ, where only sweeps can restore the balance
COPY_BELOW = 0.8  # share of the rows that is worth a copy with one row beside the next
NARROW_BELOW = 0.5  # share of a copy that is worth another
BLOCK = 16  # rows that stay together when all are mixed: memory is read in order
SHORTER = (1.0, 0.25, 0.0625, 0.015625)  # parts of Newton's step that are tried
SEED = 1  # of the order of the rows: always the same, so that a fit can be repeated


class Neighbourhood:
    """The active examples, and the multiplier of Σyα = 0."""

    def __init__(  # noqa: PLR0917 (the problem, then where it stands)
        self,
        rows: Rows,
        y: Array,
        upper: Array,
        alpha: Array,
        weights: Array,
        bias: float,
        active: NDArray[np.intp],
    ) -> None:
        self.all_rows, self.all_y, self.all_upper, self.all_alpha = rows, y, upper, alpha
        self.weights, self.bias = weights, bias
        scale = float(rows.squared_norms[active].mean())
        self.penalty = PENALTY * scale if scale > 0.0 else 1.0
        self.balance = float(y @ alpha)
        self.highest, self.lowest, self.changes = np.inf, -np.inf, 0
        self.drop_beyond = np.inf
        self.passes = 0
        self.gather(active)

    @property
    def spread(self) -> float:
        """How far the projected gradients of the last sweep were apart."""
        return self.highest - self.lowest

    def improve(self, goal: float, *, sweeps: int, max_passes: int) -> None:
        """Sweep at least so often, then take Newton's steps until the spread is below the goal."""
        for count in range(1, MOST_SWEEPS + 1):
            self.sweep()
            quiet = count >= sweeps and self.changes <= QUIET * len(self.order)
            if quiet or self.spread <= 0.3 * goal:
                break
        for _ in range(MOST_TURNS):
            if self.passes >= max_passes or not self.newton(0.2 * goal):
                break
            self.sweep()
            if self.spread <= 0.5 * goal:
                break
            if len(self.order) < NARROW_BELOW * len(self.rows):
                self.scatter()
                self.gather(np.sort(self.active[self.order]))
        self.scatter()

    def be_patient(self, goal: float, *, max_passes: int) -> None:
        """Only sweep, and drop nobody: slow, and sure where Newton's steps go in circles."""
        self.penalty *= PATIENT_PENALTY
        self.curvature = self.rows.squared_norms + self.penalty
        while self.passes < max_passes:
            self.drop_beyond = np.inf
            self.sweep()
            if max(self.spread, self.penalty * abs(self.balance)) <= 0.5 * goal:
                break
        self.scatter()

    def gather(self, active: NDArray[np.intp]) -> None:
        """Copy the active examples one beside the other in a mixed order; if most, mix blocks."""
        if len(active) > COPY_BELOW * len(self.all_rows):
            self.active, self.rows = np.arange(len(self.all_rows)), self.all_rows
            self.order = mixed(active, BLOCK).astype(np.int32)
        else:
            self.active = mixed(active, 1)
            self.rows = self.all_rows.take(self.active)
            self.order = np.arange(len(active), dtype=np.int32)
        self.y, self.upper = self.all_y[self.active], self.all_upper[self.active]
        self.alpha = self.all_alpha[self.active]
        self.curvature = self.rows.squared_norms + self.penalty

    def scatter(self) -> None:
        """Write α back to where all examples are."""
        self.all_alpha[self.active] = self.alpha

    def sweep(self) -> None:
        """Go once over the examples that are kept; then move the multiplier."""
        kept, self.balance, self.highest, self.lowest, self.changes = sweep(
            *self.rows.arrays,
            self.y,
            self.upper,
            self.curvature,
            self.alpha,
            self.weights,
            self.order,
            self.penalty,
            self.bias,
            self.balance,
            self.drop_beyond,
        )
        self.order = self.order[:kept]
        self.bias += self.penalty * self.balance
        self.drop_beyond = self.spread if kept else np.inf
        self.passes += 1

    def newton(self, accuracy: float) -> bool:
        """Take Newton's step on the free examples; tell whether there are any."""
        alpha, upper = self.alpha[self.order], self.upper[self.order]
        free = self.order[(alpha > 0.0) & (alpha < upper)].astype(np.intp)
        if len(free) < 2:
            return False
        if self.changes:
            accuracy = max(accuracy, ROUGH * self.spread)
        rows, y, alpha, upper = (
            self.rows.take(free),
            self.y[free],
            self.alpha[free],
            self.upper[free],
        )
        residual = y - rows.times(self.weights)
        room = np.where(y > 0.0, -alpha, alpha - upper), np.where(y > 0.0, upper - alpha, alpha)
        step, bias, steps = newton_step(
            rows, residual, room, -self.balance, accuracy=accuracy, max_steps=MOST_STEPS
        )
        self.passes += steps
        for part in SHORTER:
            change = np.minimum(np.maximum(part * step, room[0]), room[1])
            moved, total = rows.total(change), float(change.sum())
            inside = (change > room[0]) & (change < room[1])
            # What the augmented Lagrangian falls by: cut at the bounds, a step may overshoot.
            fall = change @ (residual - self.bias) - 0.5 * (moved @ moved)
            fall -= self.penalty * total * (0.5 * total + self.balance)
            if (inside.all() and part == 1.0) or fall >= 0.0:
                self.alpha[free] = np.minimum(np.maximum(alpha + y * change, 0.0), upper)
                self.weights += moved
                self.balance += total
                if inside.all():
                    self.bias += part * (bias - self.bias)
                elif inside.any():
                    self.bias = float((y - rows.times(self.weights))[inside].mean())
                break
        return True


def mixed(which: NDArray[np.intp], block: int) -> NDArray[np.intp]:
    """Mix blocks of examples, always in the same way.

    Examples
    --------
    >>> sorted(int(i) for i in mixed(np.arange(5), 2))
    [0, 1, 2, 3, 4]
    """
    firsts = block * np.random.default_rng(SEED).permutation(-(-len(which) // block))
    order = (firsts[:, None] + np.arange(block)).ravel()
    return np.asarray(which[order[order < len(which)]])
