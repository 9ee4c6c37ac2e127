"""Numbers to intervals: what a count, a mean, an area or a set of replicates leaves open.

==================  ==============================================================================
file                holds
==================  ==============================================================================
choose              which interval an estimate gets: the one place where that is decided
binomial            k of n: exact and approximate intervals, bounds, fractional counts, exact test
differences         two independent samples
bounds              any loss in [0, 1]: Hoeffding, Chernoff, Bernstein; VC and stability bounds
delta               any smooth measure of cell totals: gradient, standard error, interval
cell_sample         how cell totals vary: weights, groups, votes of refits, smoothing
class_averages      averages over classes and of label sets: macro, weighted, micro
rankings            average precision, 11-point, best F1, breakeven point, greatest distance
means               values in a known range; log loss and Brier score, by gamma intervals
distributions       normal, Student's, gamma, beta: quantiles without SciPy; Wilson's ends
replicates          percentile, basic and BCa intervals; resampling by cells; how far refits under
                    random weights moved an error
auc                 DeLong's variance, interval and tests; what is left when they degenerate
chosen_thresholds   guarantees of thresholds, and intervals after the choice
variance_components refits: example noise, disagreement, refits that err together
agreement           a share of examples that several refits judge: what they are worth
cross_validation    what others say of that: central limit theorem, nested cross-validation,
                    corrected standard error, conservative Z
planning            how large a test set? how often does a paired test find what is there?
==================  ==============================================================================
"""
