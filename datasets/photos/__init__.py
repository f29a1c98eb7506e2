"""Photos with annotated keypoints, in any format."""
