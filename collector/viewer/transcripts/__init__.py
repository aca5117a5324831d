"""Reads single rollouts from their files, and prepares them for reading and comparing."""
