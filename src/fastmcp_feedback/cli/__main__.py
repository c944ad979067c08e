"""`python -m fastmcp_feedback.cli`."""

from . import main

main()
