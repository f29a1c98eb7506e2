"""How responses and gradients are computed from each kind of data."""
