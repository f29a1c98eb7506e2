"""Files into arrays: annotation formats, trajectories, tables, simulated data, bundled samples."""
