"""Spotter: collect rollouts from NeMo Gym style servers and profile them in a SQL warehouse."""

__version__ = "0.1.0"
