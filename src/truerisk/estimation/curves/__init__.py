"""Learning curves: how good learners get with more examples, and what that costs.

==============  ==================================================================================
file            holds
==============  ==================================================================================
learning_curve  the function of the user, and its checks
points          one learner at one size, and from such runs to the points of a curve
laws            the power of n that a cost grows with; e(n) = a + b·n^(−c), and sizes it asks for
results         what comes out: points, laws, where curves cross, the best for a budget
==============  ==================================================================================
"""
