"""Learners: what a name stands for, how columns are prepared, how settings are chosen, one refit.

==============  ==================================================================================
file            holds
==============  ==================================================================================
named_models    what ``--model svm`` means, and what is never loaded
model_makers    how each of them is made
naive_bayes     numbers, names and words together
preprocessing   columns to features, learnt within the training part
tuning          a learner that chooses its settings whenever it is trained
measured_folds  what a choice is judged by
refits          one training, one judging
==============  ==================================================================================
"""
