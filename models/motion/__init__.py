"""Motion segmentation: candidates and the ranker that chooses among them."""
