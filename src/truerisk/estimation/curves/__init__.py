"""Learning curves: how good learners get with more examples, and what that costs.

==============  ==================================================================================
file            holds
==============  ==================================================================================
learning_curve  the function of the user, and its checks
points          one learner at one size, and from such runs to the points of a curve
laws            what is asked for; how a cost grows with n; e(n) = a + b·n^(−c), sizes it asks for
results         what comes out: points, laws, where curves cross, the best for a budget
==============  ==================================================================================
"""
