"""The commands of `annealed`, one file each."""
