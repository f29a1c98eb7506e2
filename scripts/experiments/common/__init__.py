"""What several experiments share: methods, measurements, and the figures of the papers."""
