"""Training of detectors: targets, mining, fits, run folders."""
