"""Compactions that are killed at every step: MEMORY.md is whole, and what was begun is finished or begun again."""

import pytest

from apps.notes.compaction.decide import compaction_apply, compaction_undo
from apps.notes.compaction.run import MAX_TRIES, RUN_STEPS, compaction_request, compaction_run
from apps.notes.files.desk import WRITE_STEPS
from apps.notes.files.folder import REPLACE_STEPS
from apps.notes.models import Compaction, CompactionState
from tests.integration.notes.compactions import SHORTER, TEXT, answer, memory, run, script, settings_of, written
from tests.system.notes_process import apply_and_die, compact_and_die, killed, undo_and_die

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("notes_dir"),
    pytest.mark.xdist_group("killed"),
]
STEPS = (*WRITE_STEPS, *REPLACE_STEPS)


@pytest.mark.parametrize("step", RUN_STEPS)
def test_run_that_was_killed_ends_when_the_task_comes_again(step):
    """Also between the answer of the model and its record."""
    memory()
    settings_of(llmCompactionAutoApply=True)
    asked = compaction_request("ana", actor="key:app")
    killed(compact_and_die, str(asked.uuid), answer(), step)
    assert written() == TEXT, "nothing is applied without its record"
    row = compaction_run(asked.uuid, providers=[script(answer())])
    assert row is not None
    assert (row.state, row.tries, written()) == ("applied", 1 if step == "recorded" else 2, SHORTER)
    assert compaction_run(asked.uuid, providers=[script("never")]) is None


def test_run_that_is_killed_each_time_is_given_up():
    memory()
    asked = compaction_request("ana", actor="key:app")
    for _ in range(MAX_TRIES):
        killed(compact_and_die, str(asked.uuid), answer(), "answered")
    row = compaction_run(asked.uuid, providers=[script("never")])
    assert row is not None
    assert (row.state, row.code, written()) == ("failed", "interrupted", TEXT)


@pytest.mark.parametrize("step", STEPS)
def test_draft_whose_application_was_killed_is_applied_once(step):
    memory()
    row = run(answer())
    killed(apply_and_die, str(row.uuid), step)
    assert written() in {TEXT, SHORTER}
    assert compaction_apply(row.uuid, actor="key:app").state == CompactionState.APPLIED
    assert written() == SHORTER
    killed(undo_and_die, str(row.uuid), step)
    assert written() in {TEXT, SHORTER}
    assert compaction_undo(row.uuid, actor="key:app").state == CompactionState.UNDONE
    assert (written(), Compaction.objects.count()) == (TEXT, 1)
