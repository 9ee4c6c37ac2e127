"""Learners: what a name stands for, how columns are prepared, how settings are chosen, one refit.

==============  ==================================================================================
file            holds
==============  ==================================================================================
named_models    what ``--model svm`` means, how each is made, and what is never loaded or refitted
preprocessing   columns to features, learnt within the training part
naive_bayes     numbers, names and words together
concise         decision list, set covering machine, condensed neighbours
scoring         what ``cv=``, ``scoring=``, ``sample_weight=`` and ``params=`` mean
tuning          a learner that chooses its settings whenever it is trained
refits          one training, and its predictions
==============  ==================================================================================
"""
