"""The command line: one file per command, with the progress, plots and reports that people look at."""
