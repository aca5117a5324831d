"""Environments: tools with state, and a verdict on what an agent did with them."""
