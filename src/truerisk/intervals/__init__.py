"""Numbers to intervals: what a count, a mean, an area or a set of replicates leaves open.

==================  ==============================================================================
file                holds
==================  ==============================================================================
binomial            k of n: exact and approximate intervals, one-sided bounds, fractional counts
exact_test          is the proportion p0? the exact binomial test
exact_ends          where a tail of the binomial is as wanted
blaker              the shortest of the exact intervals
beta_quantile       the quantile under all of them, put back into its own tail
bounds              any loss in [0, 1]: Hoeffding, Chernoff, Bernstein; VC and stability bounds
delta               any smooth measure of cell totals: gradient, standard error, interval
replicates          percentile, basic and BCa intervals; resampling by cells, by groups
auc                 DeLong's variance and interval; what is left when it degenerates
delong_tests        are two areas the same?
differences         two independent proportions
agreement           a share of examples that several refits judge: what they are worth
nested_cross_validation, cross_validation_clt, conservative_z: what others say of that
adaptive, rho_based Laber and Murphy's interval; a variance of Nadeau and Bengio's
perturbed           how far refits under random weights moved an error
resampled_tests     the values of refits: corrected t, 5×2cv, Bayesian correlated t
planning            how large a test set?
paired_power        how often a paired test finds what is there
==================  ==============================================================================
"""
