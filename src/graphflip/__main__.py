"""`python -m graphflip` is the command line."""

from .cli import main

main()
