"""The inverse of the equations that the free examples of a support vector machine obey.

Problem   solve  b + Σⱼ Kᵢⱼ zⱼ = gᵢ  for all i in F,  Σⱼ zⱼ = s,  again and again while single
          examples enter and leave F
Given     K, the members of F, and what enters or leaves
Returns   the inverse of  [0 1ᵀ; 1 K_FF]  (place 0 is the bias), kept true by rank-one updates
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

from truerisk.svm.solution import Array
from truerisk.svm.solvers.smo import REARRANGE

SMALL = 1e-3  # a squared distance, beside K(x, x), that is computed with care


class FreeBlock(NamedTuple):
    """The members of F, the inverse, and one answer of it; only the first places are in use."""

    members: NDArray[np.int64]
    inverse: Array
    answer: Array  # of the bias, then of each member
    question: Array
    size: NDArray[np.int64]  # one number: how many members


def empty_block(capacity: int) -> FreeBlock:
    """Make room for `capacity` free examples."""
    m = capacity + 1
    inverse, answer, question = np.zeros((m, m)), np.zeros(m), np.zeros(m)
    return FreeBlock(np.zeros(m, np.int64), inverse, answer, question, np.zeros(1, np.int64))


def grown(block: FreeBlock, capacity: int) -> FreeBlock:
    """Give the same block with more room."""
    larger_block = empty_block(capacity)
    copy_block(block, larger_block)
    return larger_block


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def copy_block(source: FreeBlock, target: FreeBlock) -> None:
    """Copy members and inverse into a block with enough room."""
    m = source.size[0] + 1
    target.size[0] = source.size[0]
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
    block.size[0] = 0
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
    block.members[:m] = members
    block.inverse[0, 0] = -(row @ weights)
    block.inverse[0, 1 : m + 1] = block.inverse[1 : m + 1, 0] = weights
    block.inverse[1 : m + 1, 1 : m + 1] = answers
    block.size[0] = m
    return np.setdiff1d(candidates, members, assume_unique=True)


def invert_independent(matrix: Array, floor: float) -> tuple[NDArray[np.int64], Array]:
    """Choose rows with a positive definite submatrix; give their places and its inverse."""
    if len(matrix) == 0:
        return np.zeros(0, np.int64), matrix
    factor, pivots, rank, _ = dpstrf(matrix, tol=floor, lower=1)
    inverse, _ = dpotri(np.asfortranarray(factor[:rank, :rank]), lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    return pivots[:rank].astype(np.int64) - 1, inverse


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def solve_block(block: FreeBlock) -> None:
    """Set answer = −inverse · question."""
    m = block.size[0] + 1
    question, answer = block.question[:m], block.answer[:m]
    for i in range(m):
        row = block.inverse[i, :m]
        total = 0.0
        for k in range(m):
            total += row[k] * question[k]
        answer[i] = -total


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def distance_to(gram: Array, block: FreeBlock, i: int) -> float:
    """Give the squared distance of the image of i to the affine hull of the members' images.

    The answer is left in the block: how the bias and the members move when z[i] grows by 1.
    """
    row = gram[i]
    question, answer = block.question, block.answer
    question[0] = 1.0
    for k in range(block.size[0]):
        question[k + 1] = row[block.members[k]]
    solve_block(block)
    distance = float(row[i])
    for k in range(block.size[0] + 1):
        distance += question[k] * answer[k]
    if distance < SMALL * row[i]:
        return mended_distance(gram, block, i)
    return distance


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def mended_distance(gram: Array, block: FreeBlock, i: int) -> float:
    """Do one step of iterative refinement: a small distance is what large numbers leave over.

    With q the question, β the answer and r = q + Aβ what it leaves open, the squared distance is
    K(i, i) + qβ + rβ, whose error is of second order in that of β.
    """
    m = block.size[0] + 1
    members, question, answer = block.members, block.question, block.answer
    distance = float(gram[i, i])
    left = question.copy()
    for k in range(1, m):
        left[0] += answer[k]
        row = gram[members[k - 1]]
        total = answer[0]
        for j in range(1, m):
            total += row[members[j - 1]] * answer[j]
        left[k] += total
    for k in range(m):
        distance += question[k] * answer[k]
    for k in range(m):
        total = 0.0
        for j in range(m):
            total += block.inverse[k, j] * left[j]
        answer[k] -= total
        distance += left[k] * answer[k]
    return distance


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def enter(block: FreeBlock, i: int, distance: float) -> None:
    """Let i in, at the distance and with the answer that `distance_to` has left."""
    size = block.size[0]
    m = size + 1
    inverse, answer = block.inverse, block.answer[:m]
    for k in range(m):
        share = answer[k] / distance
        row = inverse[k, :m]
        for j in range(m):
            row[j] += share * answer[j]
        inverse[k, m] = share
        inverse[m, k] = share
    inverse[m, m] = 1.0 / distance
    block.members[size] = i
    block.size[0] = size + 1


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def enter_first(block: FreeBlock, gram: Array, i: int) -> None:
    """Let i into the empty block."""
    block.inverse[0, 0] = -gram[i, i]
    block.inverse[0, 1] = block.inverse[1, 0] = 1.0
    block.inverse[1, 1] = 0.0
    block.members[0] = i
    block.size[0] = 1


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def leave(block: FreeBlock, place: int) -> bool:
    """Let the member at `place` go; False if the inverse has lost its meaning."""
    last = block.size[0]
    inverse, members = block.inverse, block.members
    if place + 1 != last:
        for k in range(last + 1):
            inverse[place + 1, k], inverse[last, k] = inverse[last, k], inverse[place + 1, k]
        for k in range(last + 1):
            inverse[k, place + 1], inverse[k, last] = inverse[k, last], inverse[k, place + 1]
        members[place] = members[last - 1]
    block.size[0] = last - 1
    if last == 1:
        return True
    pivot = inverse[last, last]
    if not pivot > 0.0:
        return False
    gone = inverse[last, :last]
    for k in range(last):
        share = inverse[k, last] / pivot
        row = inverse[k, :last]
        for j in range(last):
            row[j] -= share * gone[j]
    return True
