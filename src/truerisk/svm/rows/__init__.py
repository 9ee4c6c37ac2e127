"""Linear SVMs on sparse or wide rows: one optimum, and leaving one example out."""
