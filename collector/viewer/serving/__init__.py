"""Starts the viewer: finds or fills the warehouse, and serves its pages."""
