"""Whole objects made of keypoints: their shape, poses, search and alignment."""
