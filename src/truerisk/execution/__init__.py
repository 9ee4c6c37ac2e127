"""Many refits of one kind: here one by one, here in several processes, or on a cluster.

`run_each` calls one function on many items and gives the results in their order.  Where it runs
changes how long it takes, and not one bit of what comes out.
"""

from truerisk.execution.batches import Result, Task
from truerisk.execution.running import Progress, run_each

__all__ = ["Progress", "Result", "Task", "run_each"]
