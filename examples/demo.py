"""`make demo`: record two public MCP servers that know nothing of this package, and show what was recorded.

Starts `mcp-server-git` (on a repository made on the spot) and `mcp-server-time` behind `fastmcp-feedback proxy`, drives
them with a real MCP client over stdio, and prints the statistics and three recorded calls.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp.shared.exceptions import MCPError

BIN = Path(sys.executable).parent
COMMAND = str(BIN / "fastmcp-feedback")


def say(text: str) -> None:
    """A heading."""
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


def make_repository(folder: Path) -> Path:
    """A git repository with two commits and a change that is not committed."""
    repository = folder / "studio"
    repository.mkdir()

    def git(*args: str) -> None:
        identity = ["-c", "user.name=Demo", "-c", "user.email=demo@example.org", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *identity, *args], cwd=repository, check=True, capture_output=True)

    git("init")
    for number, line in enumerate(("scene: small", "scene: big"), start=1):
        (repository / "scene.txt").write_text(line + "\n")
        git("add", "scene.txt")
        git("commit", "-m", f"Scene {number}")
    (repository / "scene.txt").write_text("scene: huge\n")
    return repository


def proxied(database: Path, *server: str) -> Client[Any]:
    """A client of a server that runs behind the proxy."""
    arguments = ["proxy", "--mode", "full", "--db", str(database), "--", *server]
    what_servers_say = database.with_name("stderr.txt")  # it would stand in the middle of the demo
    return Client(StdioTransport(COMMAND, arguments, env=dict(os.environ), keep_alive=False, log_file=what_servers_say))


async def drive(client: Client[Any], calls: list[tuple[str, dict[str, Any]]]) -> None:
    """Make the calls; the server's answer is one character each."""
    async with client:
        for tool, arguments in calls:
            try:
                failed = (await client.call_tool(tool, arguments, raise_on_error=False)).is_error
            except MCPError:  # some servers answer a call of an unknown tool so
                failed = True
            print("x" if failed else ".", end="", flush=True)


async def drive_both(database: Path, repository: Path) -> None:
    """Some twenty calls, of which a few fail in different ways."""
    here, nowhere = {"repo_path": str(repository)}, {"repo_path": str(repository.parent / "nowhere")}
    server = [sys.executable, "-m", "mcp_server_git", "--repository", str(repository)]
    print("mcp-server-git   ", end="", flush=True)
    await drive(
        proxied(database, *server),
        [
            ("git_status", here),
            ("git_log", {**here, "max_count": 2}),
            ("git_diff_unstaged", here),
            ("git_diff_staged", here),
            ("git_show", {**here, "revision": "HEAD"}),
            ("git_show", {**here, "revision": "no-such-revision"}),  # the server fails
            ("git_status", nowhere),  # not a repository
            ("git_branch", {**here, "branch_type": "local"}),
            ("git_log", {**here, "max_count": "many"}),  # arguments that are refused
            ("git_add", {**here, "files": ["scene.txt"]}),
            ("git_commit", {**here, "message": "Scene 3\n\napi_key=sk-demo-51f0c2a9d7e84b36"}),  # a secret in an argument
            ("git_push", here),  # no such tool
        ],
    )
    print("\nmcp-server-time  ", end="", flush=True)
    clock = {"source_timezone": "Europe/Paris", "time": "16:30", "target_timezone": "Asia/Tokyo"}
    await drive(
        proxied(database, sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"),
        [
            ("get_current_time", {"timezone": "UTC"}),
            ("get_current_time", {"timezone": "America/New_York"}),
            ("get_current_time", {"timezone": "Mars/Olympus_Mons"}),  # unknown
            ("convert_time", clock),
            ("convert_time", {**clock, "time": "half past four"}),  # not a time
            ("convert_time", {"time": "16:30"}),  # arguments are missing
            ("get_current_time", {"timezone": "Asia/Kolkata"}),
            ("convert_time", {**clock, "target_timezone": "UTC"}),
        ],
    )
    print()


def show_three_calls(database: Path) -> None:
    """A success, a failure, and the call whose secret is gone."""
    listed = subprocess.run([COMMAND, "calls", "--db", str(database), "--json", "-n", "100"], check=True, capture_output=True, text=True)
    calls = json.loads(listed.stdout)
    chosen = [
        next(call for call in calls if call["ok"] and call["tool"] == "convert_time"),
        next(call for call in calls if not call["ok"] and call["tool"] == "get_current_time"),
        next(call for call in calls if call["tool"] == "git_commit"),
    ]
    for call in chosen:
        names = ("tool", "outcome", "error_type", "error_message", "duration_ms", "fault", "args", "result")
        shown = {name: call[name] for name in names if call.get(name) is not None}
        print(json.dumps(shown, indent=2)[:900])


def main() -> None:
    """Run the demo in a folder of its own that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="fastmcp-feedback-demo-") as name:
        folder = Path(name)
        database = folder / "calls.db"
        say("Calling two public MCP servers through the recorder (x: the server answered with an error)")
        asyncio.run(drive_both(database, make_repository(folder)))
        say("fastmcp-feedback stats")
        subprocess.run([COMMAND, "stats", "--db", str(database)], check=True)
        say("fastmcp-feedback calls --outcome failed")
        subprocess.run([COMMAND, "calls", "--db", str(database), "--outcome", "failed"], check=True)
        say("Three recorded calls")
        show_three_calls(database)
        say("Record your own server: fastmcp-feedback proxy -- COMMAND ARGS...   or, in Python, instrument(app): see README.md")


if __name__ == "__main__":
    main()
