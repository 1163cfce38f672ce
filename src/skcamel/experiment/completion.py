"""Finished units that lack a metric or scores which are wanted now: which they are, and what the scores that were kept can give them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from skcamel.experiment.compute import Task, failure, load
from skcamel.experiment.locks import PAUSE
from skcamel.experiment.measures import measures_of
from skcamel.experiment.records import Records, StudyFolder, scores_file
from skcamel.experiment.units import RecordsError, Unit


def incomplete(records: Records, tasks: Sequence[Task], *, rerun: bool) -> list[Task]:
    """Units that are recorded without a metric or scores that are wanted now; refused if they need a fit and must not have one."""
    known = {Unit.of(record).key: record for record in records}
    lacking: list[Task] = []
    lost, unfit = dict[str, None](), 0
    for task in (task for task in tasks if task.unit.key in known):
        names = _missing(known[task.unit.key], task)
        kept = scores_file(records.folder, task.unit.key).exists()
        if names or (task.keep and not kept):
            lacking.append(task)
        if not kept and (names or task.keep):
            unfit += 1
            lost |= dict.fromkeys(names or ["scores"])
    if unfit and not rerun:
        raise RecordsError(
            f"{records.folder} holds {unfit} of the {len(tasks)} units without {', '.join(lost)}, and did not keep their scores; "
            "give rerun=True (--rerun) to compute these units again, or choose another folder."
        )
    return lacking


def _missing(record: Mapping[str, Any], task: Task) -> list[str]:
    return [measure.name for measure in task.measures if measure.name not in record.get("more", ())]


def measure_again(folder: StudyFolder, records: Records, tasks: Sequence[Task]) -> None:
    """Add the metrics that records lack, from the scores that were kept; units without these are left for a fit."""
    known = {Unit.of(record).key: record for record in records}
    for task in tasks:
        key = task.unit.key
        if not scores_file(folder.path, key).exists():
            continue
        while (state := folder.claim(key)) == "busy":  # another run measures it, too
            time.sleep(PAUSE)
        if state != "mine":
            continue
        try:
            rows, outcomes = records.kept(known[key])
            missing = [measure for measure in task.measures if measure.name in _missing(known[key], task)]
            more = measures_of(load(task.source).Y[rows], outcomes, missing)
        except Exception as error:
            folder.again.discard(key)  # a fit would meet the same error
            folder.fail(key, failure(task.unit, error).record)
        else:
            folder.finish(key, known[key] | {"more": more})
