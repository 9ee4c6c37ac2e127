"""The inverse of the equations that the free examples of a support vector machine obey.

Problem   solve  b + Σⱼ Kᵢⱼ zⱼ = gᵢ  for all i in F,  Σⱼ zⱼ = s,  again and again while single
          examples enter and leave F
Given     K, the members of F, and what enters or leaves
Returns   the inverse of  [0 1ᵀ; 1 K_FF], kept true by rank-one updates
Source    Cauwenberghs and Poggio, "Incremental and decremental support vector machine learning",
          NIPS 2000; the first inverse by a Cholesky factor with pivoting, which finds the members
          whose images depend on the others'
Cache     as in `smo`
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotri, dpstrf

from truerisk.aliases import Array
from truerisk.svm.solvers.smo import REARRANGE

SMALL = 1e-3  # a squared distance, beside K(x, x), that is computed with care
# Rows of `vectors`: what the equations are asked, what they answer, and room for a second answer.
QUESTION, ANSWER, MENDED, VECTORS = range(4)


class FreeBlock(NamedTuple):
    """The members of F and the inverse.

    Place 0 of everything belongs to the bias, and places 1 … size to the members; `members[0]` is
    the size.  Few arrays, since every one of them costs time in every call that is compiled.
    """

    members: NDArray[np.int64]
    inverse: Array
    vectors: Array


def empty_block(capacity: int) -> FreeBlock:
    """Make room for `capacity` free examples."""
    m = capacity + 1
    return FreeBlock(np.zeros(m, np.int64), np.zeros((m, m)), np.zeros((VECTORS, m)))


def grown(block: FreeBlock, capacity: int) -> FreeBlock:
    """Give the same block with more room."""
    with_room = empty_block(capacity)
    copy_block(block, with_room)
    return with_room


def members_of(block: FreeBlock) -> NDArray[np.int64]:
    """Give the free examples."""
    return block.members[1 : block.members[0] + 1].copy()


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def copy_block(source: FreeBlock, target: FreeBlock) -> None:
    """Copy members and inverse into a block with enough room."""
    m = source.members[0] + 1
    for i in range(m):
        target.members[i] = source.members[i]
        for k in range(m):
            target.inverse[i, k] = source.inverse[i, k]


def fill_block(
    gram: Array, candidates: NDArray[np.int64], block: FreeBlock, floor: float
) -> NDArray[np.int64]:
    """Let in the candidates whose images are affinely independent; give those left outside.

    With r the first candidate, M = K − K_r − K_rᵀ + K_rr is the Gram matrix of the others seen from
    r, and with its inverse P everything follows: H = EPEᵀ, E = [−1ᵀ; I], is what the equations
    answer z by, and u = e_r − H K e_r is how they answer the sum.
    """
    block.members[0] = 0
    if len(candidates) == 0:
        return candidates
    first, others = candidates[0], candidates[1:]
    own = gram[first, others]
    seen = gram[np.ix_(others, others)] - own[:, None] - own[None, :] + gram[first, first]
    kept, precision = invert_independent(seen, floor)
    members = np.concatenate([[first], others[kept]])
    m = len(members)
    answers = np.empty((m, m))
    answers[1:, 1:] = precision
    answers[0, 1:] = answers[1:, 0] = -precision.sum(axis=0)
    answers[0, 0] = precision.sum()
    row = gram[first, members]
    weights = -answers @ row
    weights[0] += 1.0
    block.members[0], block.members[1 : m + 1] = m, members
    block.inverse[0, 0] = -(row @ weights)
    block.inverse[0, 1 : m + 1] = block.inverse[1 : m + 1, 0] = weights
    block.inverse[1 : m + 1, 1 : m + 1] = answers
    return np.setdiff1d(candidates, members, assume_unique=True)


def invert_independent(matrix: Array, floor: float) -> tuple[NDArray[np.int64], Array]:
    """Choose rows with a positive definite submatrix; give their places and its inverse."""
    if len(matrix) == 0 or not matrix.diagonal().max() > floor:
        return np.zeros(0, np.int64), matrix[:0, :0]
    factor, pivots, rank, _ = dpstrf(matrix, tol=floor, lower=1)
    inverse, _ = dpotri(np.asfortranarray(factor[:rank, :rank]), lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    return pivots[:rank].astype(np.int64) - 1, inverse


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def solve_block(block: FreeBlock, answer: Array) -> None:
    """Set `answer` to −inverse · question."""
    m, question = block.members[0] + 1, block.vectors[QUESTION]
    for i in range(m):
        row = block.inverse[i]
        total = 0.0
        for k in range(m):
            total += row[k] * question[k]
        answer[i] = -total


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def distance_to(gram: Array, block: FreeBlock, i: int) -> float:
    """Give the squared distance of the image of i to the affine hull of the members' images.

    The answer is left in the block: how the bias and the members move when z[i] grows by 1.  A
    small distance is what large numbers leave over, and gets a step of iterative refinement: with
    q the question, β the answer and r = q + Aβ what it leaves open, it is K(i, i) + qβ + rβ, whose
    error is of second order in that of β.
    """
    row, m = gram[i], block.members[0] + 1
    members, question, answer = block.members, block.vectors[QUESTION], block.vectors[ANSWER]
    question[0] = 1.0
    for k in range(1, m):
        question[k] = row[members[k]]
    solve_block(block, answer)
    distance = float(row[i])
    for k in range(m):
        distance += question[k] * answer[k]
    if distance >= SMALL * row[i]:
        return distance
    for k in range(1, m):
        question[0] += answer[k]
        other = gram[members[k]]
        total = answer[0]
        for j in range(1, m):
            total += other[members[j]] * answer[j]
        question[k] += total
    mended = block.vectors[MENDED]
    solve_block(block, mended)
    for k in range(m):
        answer[k] += mended[k]
        distance += question[k] * answer[k]
    return distance


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def enter(block: FreeBlock, i: int, distance: float) -> None:
    """Let i in, at the distance and with the answer that `distance_to` has left."""
    m = block.members[0] + 1
    inverse, answer = block.inverse, block.vectors[ANSWER]
    for k in range(m):
        share = answer[k] / distance
        row = inverse[k]
        for j in range(m):
            row[j] += share * answer[j]
        inverse[k, m] = share
        inverse[m, k] = share
    inverse[m, m] = 1.0 / distance
    block.members[0], block.members[m] = m, i


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def enter_first(block: FreeBlock, gram: Array, i: int) -> None:
    """Let i into the empty block."""
    block.inverse[0, 0] = -gram[i, i]
    block.inverse[0, 1] = block.inverse[1, 0] = 1.0
    block.inverse[1, 1] = 0.0
    block.members[0], block.members[1] = 1, i


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def leave(block: FreeBlock, place: int) -> bool:
    """Let the member at `place` go; False if the inverse has lost its meaning."""
    inverse, members = block.inverse, block.members
    last = members[0]
    members[0] = last - 1
    if place != last:
        for k in range(last + 1):
            inverse[place, k], inverse[last, k] = inverse[last, k], inverse[place, k]
        for k in range(last + 1):
            inverse[k, place], inverse[k, last] = inverse[k, last], inverse[k, place]
        members[place] = members[last]
    if last == 1:
        return True
    pivot = inverse[last, last]
    if not pivot > 0.0:
        return False
    gone = inverse[last]
    for k in range(last):
        share = inverse[k, last] / pivot
        row = inverse[k]
        for j in range(last):
            row[j] -= share * gone[j]
    return True
