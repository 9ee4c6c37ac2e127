"""Many refits of one kind: here one by one, here in several processes, or on a cluster.

`run_each` calls one function on many items and gives the results in their order.  Where it runs
changes how long it takes, and not one bit of what comes out; a `Checkpoint` lets a run that was
stopped go on.
"""

from truerisk.execution.batches import Result, Task
from truerisk.execution.checkpoint import Checkpoint, fingerprint
from truerisk.execution.cluster import Cluster, cluster_in_use, use_cluster
from truerisk.execution.running import Progress, run_each

__all__ = [
    "Checkpoint",
    "Cluster",
    "Progress",
    "Result",
    "Task",
    "cluster_in_use",
    "fingerprint",
    "run_each",
    "use_cluster",
]
