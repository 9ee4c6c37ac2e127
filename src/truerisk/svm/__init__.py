"""Support vector machines that keep what they learned from: α, ξ and R²."""
