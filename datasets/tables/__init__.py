"""Tables: rows of numbers with targets, from any file, and simulated."""
