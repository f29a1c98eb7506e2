"""Objects over time: linking, search near the last pose, smoothing."""
