"""The evidence: how often each interval covers, measured, and whether this installation is sound.

==============  ==================================================================================
file            holds
==============  ==================================================================================
enumeration     exact coverage of every binomial method, summed over all outcomes
populations     where samples come from whose truth is known
simulation      measured coverage of the intervals that users get, over those populations
ledger          both as the committed page docs/coverage.md
checks          quick checks of the libraries underneath, here and now
learner_…       the same for resampling: problems whose truth is known, batched learners (rules,
                trees), their refits kept in files, coverage, measures, and the page
                docs/coverage-of-learners.md
perturbation_…  the same for perturbation resampling: cells, coverage, and the page
                docs/coverage-of-perturbation.md
sizes_…         how often the default tests tell equally good models apart, and the page
                docs/size-of-tests.md
coverage_…      the figures of these pages, as the package ships them
==============  ==================================================================================
"""
