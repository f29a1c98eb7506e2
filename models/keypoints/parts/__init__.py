"""Keypoints found in their object's frame: each from its surroundings down to the part, then all together."""
