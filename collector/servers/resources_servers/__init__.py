"""Environments: tools that change a state, and a verdict on the result."""
