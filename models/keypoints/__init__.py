"""Keypoint detectors: training by hard-negative mining, scanning, detections."""
