"""Two learners compared by refits on the same folds, or under the same random weights."""
