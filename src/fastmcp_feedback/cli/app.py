"""The commands put together, and what becomes of their mistakes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError

from ..version import __version__
from . import doctor, exporting, failing, healthy, insight, maintenance, proxying, reading, replaying, reporting, serve, stories
from .output import CliError, fail

HELP = "Which tools of an MCP server fail, why, for whom and since when."


def build() -> App:
    """The command line as an object (also for the documentation)."""
    app = App(name="fastmcp-feedback", help=HELP, version=__version__, result_action="return_value")
    for part in (proxying, reading, healthy, failing, stories, reporting, exporting, doctor, replaying, insight, serve, maintenance):
        part.register(app)
    app.register_install_completion_command()
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command; its exit code."""
    try:
        answer = build()(list(arguments), exit_on_error=False, print_error=False)
    except CliError as exc:
        return fail(exc)
    except CycloptsError as exc:
        return fail(CliError(str(exc), "fastmcp-feedback --help", 2))
    except BrokenPipeError:  # `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return answer if isinstance(answer, int) and not isinstance(answer, bool) else 0
