"""A learner judged by refits: methods, plans, votes."""
