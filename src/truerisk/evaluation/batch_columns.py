"""A batch of a file → the columns that a tally takes."""

from collections.abc import Iterable, Iterator

from truerisk.evaluation.prediction_tally import Columns, Members
from truerisk.inputs import Batch, LabelBook, ReadingOptions


def columns_of(
    batches: Iterable[Batch], labels: LabelBook, options: ReadingOptions
) -> Iterator[Columns]:
    """Give the columns of each batch; `labels` grows while the batches are read."""
    members: Members = ()
    for batch in batches:
        if len(members) < len(labels):
            members = members_of(labels, options)
        if batch.truth is None:
            raise TypeError("Files were opened with their truth required.")
        yield Columns(
            batch.truth.codes,
            members,
            None if batch.pred is None else batch.pred.codes,
            batch.score,
            batch.weight,
            None if batch.group is None else batch.group.codes,
        )


def members_of(labels: LabelBook, options: ReadingOptions) -> Members:
    """Give the label set of each code.

    Examples
    --------
    >>> book = LabelBook()
    >>> _ = book.add("dog|cat")
    >>> members_of(book, ReadingOptions(multilabel_separator="|"))
    (('cat', 'dog'),)
    """
    if options.multilabel_separator is not None:
        return labels.sets(options.multilabel_separator, strip=options.strip)
    return tuple((text,) for text in labels)
