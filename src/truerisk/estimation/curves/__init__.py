"""Learning curves: how good learners get with more examples, and what that costs.

=============  ===================================================================================
file           holds
=============  ===================================================================================
learning_curve what users call
checks, runs   sizes and divisions; one learner at one size
means, points  from the runs to the points of a curve
comparison     where curves cross; the most for a budget
growth         the power of n that a cost grows with
power_law      e(n) = a + b·n^(−c), fitted
extrapolation  how many more examples a wanted error takes
results, plot  what comes out, and how it looks
=============  ===================================================================================
"""
