"""Joins the warehouses of shards: the same runs in several are joined, the others are copied."""
