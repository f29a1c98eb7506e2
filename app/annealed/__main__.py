"""`python -m annealed` is the command `annealed`."""

from .app.cli import main

main()
