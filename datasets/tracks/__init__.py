"""Point trajectories, from any file and from videos."""
