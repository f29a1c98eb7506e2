"""The command line: one file a command, with the progress, plots and reports that people look at."""
