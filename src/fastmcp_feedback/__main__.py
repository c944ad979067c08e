"""`python -m fastmcp_feedback`: the command line, where its script is not on the path."""

from .cli import main

main()
