"""The embedded gym: servers that speak NeMo Gym's protocol.

The folders are named as in NeMo Gym, so that paths in configs and commands are the same.
"""
