"""What can go wrong, and what the command line makes of it.

============  ====================================================  ====
class         when                                                  exit
============  ====================================================  ====
InputError    an argument or a file cannot mean what it says        3
MachineError  disk, memory, worker, a file that changed while read  5
============  ====================================================  ====

A finding (``--fail-under``) ends in 1, a wrong option in 2, a measure without a value in 4; none
is an error of the library.
"""


class InputError(ValueError):
    """The argument, file, row, column or value named in the message cannot be used."""


class MachineError(RuntimeError):
    """The machine, not the input, stood in the way; nothing half-written is left behind."""
