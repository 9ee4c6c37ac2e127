"""The compiled solvers.  Each module says: problem, given, returns, source."""
