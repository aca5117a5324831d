"""Verify stored rollouts again: the responses stay, the verdicts are new."""
