"""The evidence: how often each interval covers, measured, and whether this installation is sound.

==============  ==================================================================================
file            holds
==============  ==================================================================================
enumeration     exact coverage of every binomial method, summed over all outcomes
simulation      measured coverage of intervals for count measures, with a known truth
ledger          both as the committed page docs/coverage.md
checks          quick checks of the libraries underneath, here and now
==============  ==================================================================================
"""
