"""`make bench`: this project beside the published package of the same name, in turn on the same machine.

    python bench/run.py [hot_path] [steady] [ingest] [burst] [durability] [--rounds 3]
    python bench/run.py workers dashboard            what the published package cannot be asked, each run once

Each figure is a median over rounds that alternate between the two (A B A B A B), so that a machine's drift cancels. Ratios
count; absolute times of a shared machine do not. The published package gets an environment of its own, `.venv-published`.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PUBLISHED = ROOT / ".venv-published"
REQUIREMENTS = ["fastmcp-feedback[instrumentation]==2026.10.5", "asyncpg", "fastmcp>=4,<5"]

Figures = dict[str, float]


def published_python() -> Path:
    """The interpreter of the published package's own environment, made when it is not there yet."""
    python = PUBLISHED / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PUBLISHED)], check=True)
        subprocess.run([str(python), "-m", "pip", "-q", "install", *REQUIREMENTS], check=True)
    return python


def run(python: Path | str, script: str, *args: str) -> str:
    """One run of a benchmark script; its output."""
    done = subprocess.run([str(python), "-B", str(HERE / script), *args], capture_output=True, text=True, check=False, cwd=HERE)
    if done.returncode:
        print(done.stdout, done.stderr, file=sys.stderr)
        raise SystemExit(f"{script} failed")
    print("   ", done.stdout.strip().replace("\n", "\n    "), flush=True)
    return done.stdout


def hot_path(python: Path | str) -> Figures:
    """Added wait and CPU per call in microseconds, by mode and size."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        run(python, "hot_path.py", "--json", out.name)
        found = json.loads(Path(out.name).read_text())
    return {f"{case} {what}": row[f"{what}_us"] for case, row in found.items() for what in ("wait", "cpu")}


def steady(python: Path | str) -> Figures:
    """Added latency under a steady load of half of what the bare server can do."""
    figures: Figures = {}
    for mode, size in (("meta", "1000"), ("full", "10000")):
        text = run(python, "steady.py", "--mode", mode, "--bytes", size)
        found = re.search(r"added p50 (-?\d+) p99 (-?\d+); longest flush after a segment (\d+)", text)
        assert found is not None, text
        for name, value in zip(("p50_us", "p99_us", "flush_ms"), found.groups(), strict=True):
            figures[f"{mode} {size} B {name}"] = float(value)
    return figures


def ingest(python: Path | str) -> Figures:
    """Rows a second into SQLite and what they cost."""
    with tempfile.TemporaryDirectory() as folder:
        return json.loads(run(python, "ingest.py", f"sqlite+aiosqlite:///{folder}/ingest.db"))  # type: ignore[no-any-return]


def burst(python: Path | str) -> Figures:
    """A burst of 300,000 records without pacing."""
    with tempfile.TemporaryDirectory() as folder:
        return json.loads(  # type: ignore[no-any-return]
            run(python, "ingest.py", f"sqlite+aiosqlite:///{folder}/burst.db", "--rows", "2000", "--burst", "300000")
        )


def durability(python: Path | str) -> Figures:
    """Records that survive the ways servers end."""
    text = run(python, "durability.py")
    lines = re.findall(r"^(.+?)\s*: (\d+) of (\d+)", text, re.MULTILINE)
    return {f"{name} (of {total})": float(kept) for name, kept, total in lines}


BENCHMARKS: dict[str, Callable[[Path | str], Figures]] = {
    "hot_path": hot_path,
    "steady": steady,
    "ingest": ingest,
    "burst": burst,
    "durability": durability,
}


# Scripts about this project alone; they print what they find.
OWN: dict[str, str] = {
    "workers": "workers.py",
    "dashboard": "dashboard.py",
}


def run_own(script: str) -> None:
    """Run a script of `OWN` to its end."""
    print(f"-- {script}", flush=True)
    if subprocess.run([sys.executable, str(HERE / script)], check=False, cwd=ROOT).returncode:
        raise SystemExit(f"{script} failed")


def main() -> None:
    """Run the chosen benchmarks and print one table each."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("names", nargs="*", choices=[*BENCHMARKS, *OWN, []], help="all when none is named")
    cli.add_argument("--rounds", type=int, default=3)
    options = cli.parse_args()
    names = options.names or [*BENCHMARKS, *OWN]
    for name in names:
        if name in OWN:
            run_own(OWN[name])
    compare([name for name in names if name in BENCHMARKS], options.rounds)


def compare(names: list[str], rounds: int) -> None:
    """This project and the published package in turn."""
    published = published_python() if names else Path()
    for name in names:
        ours: list[Figures] = []
        theirs: list[Figures] = []
        for number in range(1, (1 if name == "durability" else rounds) + 1):
            print(f"-- {name}, round {number}: published package", flush=True)
            theirs.append(BENCHMARKS[name](published))
            print(f"-- {name}, round {number}: this project", flush=True)
            ours.append(BENCHMARKS[name](sys.executable))
        print(f"\n{name:38s} {'published':>12s} {'this project':>12s} {'ratio':>8s}")
        for figure in ours[0]:
            mine = statistics.median(row[figure] for row in ours)
            other = statistics.median(row.get(figure, float("nan")) for row in theirs)
            ratio = f"{mine / other:8.3f}" if other else "       -"
            print(f"{figure:38s} {other:12.1f} {mine:12.1f} {ratio}")
        print(flush=True)


if __name__ == "__main__":
    main()
