"""Measure what is missing of one batch of a frozen plan.

Reads plan/batches/<batch>.json only. What the journals hold already is not measured again; a point that takes the
core down is charged and the rest goes on. Exit code 0: each point of the batch has a status; 128 + signal: stopped
before that.

example: collpress sweep quick --platform local --batch 3f2a9c0d1e4b5a67
"""

from __future__ import annotations

import argparse

from collpress.execute.batch import read_batch
from collpress.execute.lock import refuse_beside_another_run, run_lock
from collpress.execute.supervisor import sweep
from collpress.layout import Places


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("campaign", help="name of the campaign")
    parser.add_argument("--platform", default="local", help="name of the platform (default: local)")
    parser.add_argument("--batch", required=True, help="id of a batch in plan/batches.json")


def run(args: argparse.Namespace) -> int:
    places = Places(args.campaign, args.platform)
    batch = read_batch(places.batch_index(args.batch))
    refuse_beside_another_run(places.directory)
    with run_lock(places.batch(args.batch)):
        swept = sweep(batch, places.directory)
    return 0 if swept.stopped_by is None else 128 + swept.stopped_by
