"""Pixels and trajectories into numbers."""
