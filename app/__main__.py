"""`python -m annealed.app` is the command `annealed`."""

from .cli import main

main()
