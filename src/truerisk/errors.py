"""What can go wrong, and what the command line makes of it.

=========================  =====================================================  ====
class                      when                                                   exit
=========================  =====================================================  ====
InputError                 an argument or a file cannot mean what it says         3
MachineError               disk, memory, worker, a file that changed while read   5
InputWarning               the input is allowed, and probably not what was meant  0
UndefinedMeasureWarning    a measure has no value on these examples               4
=========================  =====================================================  ====

A finding (``--fail-under``) ends in 1, a wrong option in 2; neither is an error of the library.
"""


class InputError(ValueError):
    """The argument, file, row, column or value named in the message cannot be used."""


class MachineError(RuntimeError):
    """The machine, not the input, stood in the way; nothing half-written is left behind."""


class InputWarning(UserWarning):
    """The input can be used as it stands, but it looks like a slip."""


class UndefinedMeasureWarning(UserWarning):
    """A measure is undefined on these examples; its value is NaN and the result says why."""
