from hypothesis import given
from hypothesis import strategies as st

from truerisk.evaluation.file_pieces import ROWS_A_PIECE, Piece, _row_groups


def test_row_groups_are_put_together_until_they_are_worth_sending():
    half, whole = ROWS_A_PIECE // 2, ROWS_A_PIECE
    assert list(_row_groups(3, [half, half, whole, 5])) == [
        Piece(3, (0, 1), 1),
        Piece(3, (2,), whole + 1),
        Piece(3, (3,), 2 * whole + 1),
    ]


def test_a_file_without_rows_is_one_piece():
    assert list(_row_groups(0, [])) == [Piece(0, (), 1)]


@given(lengths=st.lists(st.integers(0, 2 * ROWS_A_PIECE), max_size=8))
def test_every_row_group_is_in_one_piece_and_rows_are_numbered_through(lengths):
    pieces = list(_row_groups(0, lengths))
    groups = [group for piece in pieces for group in piece.row_groups]
    assert groups == list(range(len(lengths)))
    for piece in pieces:
        assert piece.first_row == 1 + sum(lengths[: min(piece.row_groups, default=0)])
