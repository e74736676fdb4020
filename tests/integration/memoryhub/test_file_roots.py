"""Which folders are those of a hub: a machine that does not see its files loses none, and says so."""

import errno
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.core import file_roots
from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import system_access
from apps.core.file_roots import ID_FILE, HostUnfitError, claim, forget_id, read_id, roots, store_id
from apps.core.health import files_ready
from apps.core.models import StoreIdentity
from apps.core.object_storage.bucket import StoreError
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.maintenance.doctor import segment_verify
from apps.episodic.selectors import timeline_ready
from apps.monitor.services import current_problems
from apps.notes.domain.places import MAIN
from apps.notes.models import NoteVersion
from apps.notes.selectors import note_get
from apps.notes.services import main_append
from memoryhub.config.shared import KEY_NAME, differing, settings_facts
from memoryhub.process.prepare import require_own_key
from tests.integration.core.processes import beside
from tests.integration.episodic.timeline import Timeline, contents, draft, segments

pytestmark = pytest.mark.django_db
SYSTEM = system_access()


@pytest.fixture(autouse=True)
def folders(timeline_dir: Path, notes_dir: Path) -> tuple[Path, Path]:
    """The folders of this machine, which a hub has claimed."""
    claim(roots())
    return timeline_dir, notes_dir / "users"


def share_database(settings: Any) -> None:
    """Let this machine use a database that others may use too."""
    settings.MEMORYHUB = replace(settings.MEMORYHUB, database_url="postgresql://db.example/hub", secret_key=None)


def remember_events() -> Timeline:
    timeline = Timeline()
    timeline.record(draft("tea"), draft("coffee"))
    timeline.archive()
    return timeline


def test_a_new_database_and_its_folders_get_one_id(folders: tuple[Path, Path]) -> None:
    known = StoreIdentity.objects.get().store_id
    assert [read_id(folder) for folder in folders] == [known, known]
    claim(roots())
    assert StoreIdentity.objects.get().store_id == known
    assert files_ready() is None


def test_a_machine_without_the_folders_of_a_shared_database_is_refused(folders, settings) -> None:
    share_database(settings)
    shutil.rmtree(folders[0])
    with pytest.raises(HostUnfitError, match="the folder of the timeline, is missing, empty, or that of another"):
        claim(roots())
    assert not folders[0].exists()
    claim(roots(), adopt=True)
    assert files_ready() is None


def test_machine_that_holds_the_database_claims_a_new_folder_unless_files_are_missed(folders) -> None:
    shutil.rmtree(folders[0])
    claim(roots())
    remember_events()
    shutil.rmtree(folders[0])
    with pytest.raises(HostUnfitError, match="and the database counts on its files"):
        claim(roots())


def test_the_folder_of_another_hub_is_refused(folders) -> None:
    (folders[1] / ID_FILE).write_text("another\n")
    with pytest.raises(HostUnfitError, match="the folder of notes, belongs to another hub"):
        claim(roots())


def test_a_database_from_before_takes_the_id_that_the_folders_have(folders) -> None:
    known = read_id(folders[0])
    StoreIdentity.objects.all().delete()
    forget_id()
    claim(roots())
    assert StoreIdentity.objects.get().store_id == known


def test_folders_of_two_hubs_are_none_of_a_new_database(folders) -> None:
    StoreIdentity.objects.all().delete()
    (folders[1] / ID_FILE).write_text("another\n")
    with pytest.raises(HostUnfitError, match="different hubs"):
        claim(roots())


def test_a_timeline_whose_folder_is_away_loses_nothing(folders) -> None:
    timeline = remember_events()
    away = folders[0].with_name("away")
    folders[0].rename(away)
    folders[0].mkdir()  # as of a disk that is not mounted
    with pytest.raises(UnavailableError) as refused:
        timeline.query()
    assert refused.value.code == "files_elsewhere"
    with pytest.raises(UnavailableError):
        segment_verify(segment_id=segments(SegmentState.ARCHIVED)[0].pk)
    assert timeline_ready() == files_ready() == "The folder of the timeline is not there, or not that of this hub."
    assert not segments(SegmentState.QUARANTINED)
    folders[0].rmdir()
    away.rename(folders[0])
    assert sorted(contents(timeline.query())) == ["coffee", "tea"]
    assert files_ready() is None


def test_notes_whose_folder_is_away_are_not_deleted(folders) -> None:
    main_append(access=SYSTEM, user_id="ana", entry="Ana likes tea.")
    versions = NoteVersion.objects.count()
    away = folders[1].with_name("away")
    folders[1].rename(away)
    with pytest.raises(UnavailableError) as refused:
        note_get(SYSTEM, "ana", MAIN)
    assert refused.value.code == "files_elsewhere"
    assert not folders[1].exists()
    away.rename(folders[1])
    assert b"Ana likes tea." in (note_get(SYSTEM, "ana", MAIN).text or b"")
    assert NoteVersion.objects.count() == versions


def test_problem_says_that_the_files_are_elsewhere() -> None:
    beside("web", files="The folder of notes has the files of another hub.")
    [problem] = [problem for problem in current_problems() if problem.code == "files_not_ready"]
    assert "The folder of notes has the files of another hub. Nothing counts as lost" in problem.sentence


def test_settings_that_differ_between_hosts_are_named(settings) -> None:
    mine = settings_facts()
    settings.MEMORYHUB = replace(settings.MEMORYHUB, audit_days=7)
    theirs = settings_facts()
    assert differing({"a": mine, "b": theirs}) == ["MEMORYHUB_AUDIT_DAYS"]
    beside("web", facts={"settings": mine})
    assert "hosts_differ" not in {problem.code for problem in current_problems()}
    settings.SECRET_KEY = "x" * 60
    assert differing({"a": mine, "b": settings_facts()}) == [KEY_NAME]


@pytest.mark.parametrize(
    ("field", "value", "name"),
    [
        ("redis_url", "redis://cache.example.org", "REDIS_URL"),
        ("given_days", 3, "MEMORYHUB_GIVEN_DAYS"),
        ("upload_mb", 3, "MEMORYHUB_UPLOAD_MB"),
        ("app_registration", False, "MEMORYHUB_APP_REGISTRATION"),
        ("metrics_token", "t" * 40, "MEMORYHUB_METRICS_TOKEN"),
        ("chat", None, "MEMORYHUB_CHAT_*"),
        ("guards", None, "MEMORYHUB_CHAT_*"),
        ("timeline", None, "MEMORYHUB_TIMELINE_*"),
        ("mail", "another", "MEMORYHUB_SMTP_URL, MEMORYHUB_MAIL_FROM"),
    ],
)
def test_settings_that_differ_are_called_as_an_operator_sets_them(settings, field: str, value: Any, name: str) -> None:
    mine = settings_facts()
    settings.MEMORYHUB = replace(settings.MEMORYHUB, **{field: value})
    theirs = settings_facts()
    assert differing({"a": mine, "b": theirs}) == [name]


def test_a_host_that_went_silent_is_named_while_others_go_on() -> None:
    def gone() -> list[str]:
        return [problem.sentence for problem in current_problems() if problem.code == "host_gone"]

    beside("web", host="here")
    beside("worker", host="there", age=80)
    beside("web", host="there", age=75)
    [sentence] = gone()
    assert re.fullmatch(r"The host there was last heard of \d{2,} seconds ago; the others go on.", sentence)
    beside("web", host="there")
    assert gone() == []


def test_a_hub_that_nobody_serves_has_no_host_that_is_gone() -> None:
    beside("web", host="there", age=75)
    assert "host_gone" not in {problem.code for problem in current_problems()}


def test_a_store_that_does_not_answer_is_said_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(_place: Any) -> str:
        raise StoreError(errno.ENODEV, "the store of files has no such bucket")

    monkeypatch.setattr(file_roots, "read_id", unreachable)
    with pytest.raises(HostUnfitError, match="cannot be read: the store of files has no such bucket"):
        claim(roots())


def test_a_store_that_takes_nothing_is_said_at_the_start(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    share_database(settings)

    def refused(_place: Any, _value: str) -> None:
        raise StoreError(errno.EACCES, "the store of files refuses these credentials")

    monkeypatch.setattr(file_roots, "read_id", lambda _place: "")
    monkeypatch.setattr(file_roots, "write_id", refused)
    StoreIdentity.objects.all().delete()
    with pytest.raises(HostUnfitError, match="cannot be written to: the store of files refuses these credentials"):
        claim(roots())
    written: list[str] = []
    monkeypatch.setattr(file_roots, "write_id", lambda _place, value: written.append(value))
    claim(roots())
    assert set(written) == {store_id()}


def test_second_host_needs_the_key_of_the_first(settings) -> None:
    beside("web", facts={"settings": settings_facts()})
    require_own_key()
    share_database(settings)
    require_own_key()
    settings.SECRET_KEY = "x" * 60
    with pytest.raises(HostUnfitError, match="MEMORYHUB_SECRET_KEY"):
        require_own_key()
    settings.MEMORYHUB = replace(settings.MEMORYHUB, secret_key="x" * 60)
    require_own_key()
