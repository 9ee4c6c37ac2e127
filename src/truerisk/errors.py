"""What can go wrong, and the exit code that the command line gives it.

===================  ====================================================  ====
class                when                                                  exit
===================  ====================================================  ====
InputError           an argument or a file cannot mean what it says        3
RefitError           a model failed in some of its refits                  4
ResourceError        disk, memory, worker, a file that changed while read  5
NotConvergedWarning  a solver stopped at its cap; the message has the gap  0
UnstableWarning      an SVM has no support vector that pins its bias down  0
===================  ====================================================  ====

A finding (``--fail-under``) ends in 1, a wrong option in 2, a measure without a value in 4; none
is an error of the library.
"""


class InputError(ValueError):
    """The argument, file, row, column or value named in the message cannot be used."""


class RefitError(InputError):
    """The model failed to train or to predict in the refits that the message names."""


class ResourceError(RuntimeError):
    """Disk, memory or a worker failed, not the input; nothing half-written is left behind."""


class NotConvergedWarning(UserWarning):
    """A solver reached its cap before its tolerance; the message says how large the gap is."""


class UnstableWarning(UserWarning):
    """Every support vector of an SVM is at its bound: its bias is one of many."""
