"""How often each interval covers and each test errs, measured with the truth known.

================  ================================================================================
file              holds
================  ================================================================================
ledger            rows of dataclasses ↔ CSV in studies/ledgers; tables of the pages
checkpoints       files from which a run that was stopped continues
proportions       exact coverage of every binomial method, summed over all outcomes
predictions       measured coverage of the intervals for predictions, over known populations
learner_…         the same for resampling: problems, refits of scikit-learn's learners, coverage
refits            the default intervals of `tr.estimate`, on the populations of refit_populations
refit_tests       size and power of the tests of two learners on the same refits
perturbation      the same for perturbation resampling
equal_models      pairs of equally good models, and what each default test says of them
sizes             how often the default tests say "different" of such pairs
…_page            the ledgers as pages of the documentation
pages             all that is made from the ledgers: the pages, and the data that ships
================  ================================================================================
"""
