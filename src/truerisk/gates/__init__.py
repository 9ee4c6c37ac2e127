"""Claims that a model must meet before it ships, and the gate that checks them."""
