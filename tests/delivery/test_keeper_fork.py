"""A recorder with a spool in a process that forks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

PROGRAM: Final = """
import json, os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn about fork beside threads, which is the point here
from fastmcp_feedback.delivery.options import DeliveryOptions
from fastmcp_feedback.delivery.recorder import Recorder
from fastmcp_feedback.sink import SinkUnavailable
from support.spooling import made_call
from support.waiting import wait_until

class Door:
    owns_resource = True
    shut = True
    ids = []
    async def write(self, records):
        if self.shut:
            raise SinkUnavailable("shut")
        self.ids += [record.id for record in records]

def books():
    return made.stats()["sinks"]["Door-0"]

door = Door()
made = Recorder(lambda item: (item, True), [door], DeliveryOptions(spool=sys.argv[1]))
for n in range(5):
    made.submit(made_call(n))
wait_until(lambda: books()["spooled"] == 5)
child = os.fork()
if child == 0:
    assert books()["accepted"] == 0
    made.submit(made_call(100))
    wait_until(lambda: books()["spooled"] == 1)
    os._exit(7)
ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
before = books()["spooled"]
door.shut = False
made.keeper._orphans._looked_s = float("-inf")
made.keeper.ring()
wait_until(lambda: len(door.ids) == 6)
wait_until(lambda: not [name for name in os.listdir(sys.argv[1]) if name.endswith(".spool")])
print(json.dumps({"child": ended, "before": before, "ids": door.ids, "books": books()}))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_starts_afresh_and_its_rest_is_delivered_by_the_parent(tmp_path: Path) -> None:
    """The child has empty books and files of its own; when it has died, the parent delivers what it left."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "s")]
    answer = subprocess.run(command, capture_output=True, check=False, text=True, env=environment, timeout=50)
    assert answer.returncode == 0, answer.stderr
    told = json.loads(answer.stdout)
    assert (told["child"], told["before"]) == (7, 5)
    assert sorted(told["ids"]) == sorted(["call-0", "call-1", "call-2", "call-3", "call-4", "call-100"])
    assert (told["books"]["accepted"], told["books"]["written"], told["books"]["lost"]) == (6, 6, 0)
