"""A person brings what they have in other programs: a look first, then in the background, and undone as a whole."""

import json
import zipfile
from collections.abc import Mapping
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse

from apps.core.db.user_locks import lock_user
from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, utcnow
from apps.core.pauses import pause_begin
from apps.core.personal.registry import personal_stores
from apps.episodic.models import TimelineEvent
from apps.imports.domain.found import Kind
from apps.imports.models import Import, ImportState
from apps.imports.services import import_begin
from apps.imports.uploads import work
from apps.imports.uploads.files import FILE, UPLOADS
from apps.imports.uploads.request import KEPT
from apps.imports.uploads.work import MAX_TRIES, imports_continue
from apps.semantic.models import Memory, MemoryStatus
from tests.integration.imports.exports import CLAUDE, MEM0, TALK
from tests.integration.imports.exports import KEPT as COUNTS
from tests.integration.imports.locks import worked_on
from tests.integration.webui.person import ANA, BEN, browser_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("timeline_dir", "notes_dir")]
PAGE = reverse("webui:bring")


def zip_of(files: Mapping[str, Any], packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    whole = BytesIO()
    with zipfile.ZipFile(whole, "w", packed) as archive:
        for name, value in files.items():
            archive.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return whole.getvalue()


FILES = {
    Kind.CHATGPT: ("chatgpt.zip", zip_of({"conversations.json": [TALK], "chat.html": "<p>"})),
    Kind.CLAUDE: ("claude.zip", zip_of({f"data/{name}": value for name, value in CLAUDE.items()})),
    Kind.MEM0: ("mem0.json", json.dumps({"results": MEM0}).encode()),
    Kind.BASIC_MEMORY: (
        "basic.zip",
        zip_of({"bread/rye.md": "---\ntitle: Rye\npermalink: rye\n---\n# Rye\n\n- [method] Proof it cold #slow\n"}),
    ),
    Kind.MARKDOWN: ("vault.zip", zip_of({"a.md": "# A\n\nword\n", "b/c.md": "- one\n", "d.md": b"\xff\xfe"})),
    Kind.CLAUDE_CODE: (
        "memory.zip",
        zip_of({"MEMORY.md": "- Prefers pytest\n- [Style](style.md)\n- Deploys on Mondays\n", "CLAUDE.md": "- tabs\n"}),
    ),
}


def upload(browser: Client, name: str, data: bytes, **fields: str) -> str:
    """Upload a file, have the worker look at it, and return the page that it leads to."""
    answer = browser.post(PAGE, {"file": SimpleUploadedFile(name, data), **fields})
    if answer.status_code != 302:
        assert answer.status_code == 200
        return answer.content.decode()
    imports_continue()
    return browser.get(answer["Location"]).content.decode()


def act(browser: Client, action: str, record: Import | None = None) -> str:
    """Press a button of the latest import, have the worker do what it asks for, and return the page after it."""
    record = record or Import.objects.latest("pk")
    answer = browser.post(reverse(f"webui:bring_{action}", args=[record.uuid]))
    imports_continue()
    return browser.get(answer["Location"]).content.decode()


def known(user: str = ANA) -> set[str]:
    return set(Memory.objects.filter(user_id=user, status=MemoryStatus.ACTIVE).values_list("content", flat=True))


@pytest.mark.parametrize("kind", list(Kind))
def test_a_file_is_recognised_looked_at_and_brought_in(ana: Client, kind: Kind, uploads_dir: Path) -> None:
    page = upload(ana, *FILES[kind])
    record = Import.objects.get()
    assert (record.state, record.kind) == ("looked", kind)
    assert "Nothing was changed yet" in page
    assert not known()
    memories, events, notes, refused = COUNTS[kind]
    would = {"memories": memories, "events": events, "notes": notes}
    assert record.looked["kept"] == {name: count for name, count in would.items() if count}
    assert (f"Refused: {refused}" in page) is bool(refused)
    page = act(ana, "confirm")
    record.refresh_from_db()
    assert "It is brought in" in page
    assert record.counts["kept"] == record.looked["kept"]
    assert list(uploads_dir.iterdir()) == []


def test_a_browser_finds_what_was_brought_and_undoes_it(ana: Client) -> None:
    upload(ana, *FILES[Kind.CHATGPT])
    page = act(ana, "confirm")
    record = Import.objects.get()
    link = f"{reverse('webui:known')}?app=import%3A{record.uuid}"
    assert link in page
    assert "Grows garlic" in ana.get(link).content.decode()
    asked = ana.get(reverse("webui:bring_undo", args=[record.uuid])).content.decode()
    assert "removed from your days for good" in asked
    assert known() == {"Grows garlic in raised beds."}
    assert "It is undone" in act(ana, "undo")
    assert (known(), TimelineEvent.objects.count()) == (set(), 0)
    assert "undone" in ana.get(PAGE).content.decode()


def test_a_repeated_file_has_nothing_new(ana: Client) -> None:
    upload(ana, *FILES[Kind.MEM0])
    act(ana, "confirm")
    page = upload(ana, *FILES[Kind.MEM0])
    assert "nothing new in this file" in page
    assert "2 already known" in page
    assert reverse("webui:bring_confirm", args=[Import.objects.latest("pk").uuid]) not in page


BOMB = zip_of({"conversations.json": b" " * 40_000_000})
HOSTILE = {
    "outside": ("x.zip", zip_of({"../../outside.md": "x", "a.md": "y"}), "leads outside of the folder"),
    "absolute": ("x.zip", zip_of({"/etc/passwd.md": "x"}), "leads outside of the folder"),
    "bomb": ("x.zip", BOMB, "unpack to far more"),
    "no zip": ("x.zip", b"PK\x03\x04 no archive at all", "damaged"),
    "broken": ("x.zip", FILES[Kind.CHATGPT][1][:-40], "damaged"),
    "broken inside": ("x.zip", zip_of({"a.md": "word"}, zipfile.ZIP_STORED).replace(b"word", b"else"), "damaged"),
    "no words": ("x.zip", zip_of({"picture.png": b"png"}), "Choose the kind"),
    "no json": ("mem0.json", b'{"results": [{"memory": "one"', "cut off"),
    "nothing": ("empty.json", b"", "This file is empty"),
    "program": ("run.exe", b"MZ", "Choose a ZIP, JSON or Markdown file"),
    "no suffix": ("noname", b"x", "Choose a ZIP, JSON or Markdown file"),
    "deep": ("deep.json", b"[" * 100_000, "cut off"),
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_a_hostile_file_is_a_sentence(ana: Client, name: str, uploads_dir: Path) -> None:
    file, data, said = HOSTILE[name]
    assert said in upload(ana, file, data)
    assert ana.get(PAGE).status_code == 200
    assert not uploads_dir.exists() or list(uploads_dir.iterdir()) == []
    assert not known()


def test_the_wrong_kind_is_said(ana: Client) -> None:
    assert "Choose another kind" in upload(ana, *FILES[Kind.MARKDOWN], kind="chatgpt")
    assert "cannot be brought in" in ana.get(PAGE).content.decode()
    page = act(ana, "drop")
    assert "The file is removed" in page
    assert not Import.objects.exists()


def test_a_hostile_name_is_only_a_name(ana: Client) -> None:
    page = upload(ana, "<script>alert(1)</script>‮.md", b"# Plan\n")
    assert "<script>alert" not in page
    act(ana, "confirm")
    assert Import.objects.get().state in {"done", "looked"}
    upload(ana, "../../../etc/cron.d/x.md", b"# Plan\n\nMore")
    assert Import.objects.latest("pk").name == "x.md"


def test_a_file_that_is_too_large_is_said(ana: Client, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.webui.bring.page.max_bytes", lambda: 1_000)
    assert "larger than 1000" in upload(ana, "x.json", b"[" + b" " * 2_000 + b"]").replace("\xa0", " ")
    assert not Import.objects.exists()


def test_names_that_browsers_number_are_those_of_the_export(ana: Client) -> None:
    upload(ana, "conversations (2).json", json.dumps([TALK]).encode())
    assert Import.objects.get().looked["kept"] == {"memories": 1, "events": 2}


def test_memories_of_several_users_ask_for_a_name(ana: Client) -> None:
    data = json.dumps([MEM0[0], {"memory": "Keeps bees", "user_id": "v"}]).encode()
    assert "of another user" in upload(ana, "mem0.json", data)
    upload(ana, "mem0.json", data, from_user="v")
    act(ana, "confirm")
    assert known() == {"Keeps bees"}


def test_what_another_person_brought_is_not_there(ana: Client) -> None:
    ben = browser_of(BEN)
    upload(ben, *FILES[Kind.MEM0])
    theirs = Import.objects.get()
    names = ("bring_import", "bring_state", "bring_undo")
    for _ in range(2):
        assert {ana.get(reverse(f"webui:{name}", args=[theirs.uuid])).status_code for name in names} == {404}
        for name in ("bring_confirm", "bring_drop", "bring_undo"):
            assert ana.post(reverse(f"webui:{name}", args=[theirs.uuid])).status_code == 404
        assert "mem0.json" not in ana.get(PAGE).content.decode()
        state = theirs.state
        theirs.refresh_from_db()
        assert theirs.state == state
        act(ben, "confirm")
        theirs.refresh_from_db()
    assert theirs.state == "done"
    assert (len(known(BEN)), known(ANA)) == (2, set())


def test_no_form_names_whose_it_is(ana: Client) -> None:
    upload(ana, *FILES[Kind.MEM0], user_id=BEN, user=BEN)
    act(ana, "confirm")
    assert (len(known(ANA)), known(BEN)) == (2, set())


def test_another_file_takes_the_place_of_one_that_waits(ana: Client, uploads_dir: Path) -> None:
    upload(ana, *FILES[Kind.MEM0])
    first = Import.objects.get()
    upload(ana, *FILES[Kind.CHATGPT])
    second = Import.objects.get()
    assert second.pk != first.pk
    assert [path.name for path in uploads_dir.iterdir()] == [f"{second.uuid}.upload"]
    assert ana.get(reverse("webui:bring_import", args=[first.uuid])).status_code == 404


def test_a_file_is_for_its_owner_on_the_disk_and_goes_after_a_day(ana: Client, uploads_dir: Path) -> None:
    upload(ana, *FILES[Kind.MEM0])
    record = Import.objects.get()
    assert UPLOADS.file(record.uuid, FILE).stat().st_mode & 0o777 == 0o600
    assert uploads_dir.stat().st_mode & 0o777 == 0o700
    later = utcnow(SYSTEM_CLOCK) + KEPT
    for moment, is_there in ((later - timedelta(hours=1), True), (later + timedelta(seconds=9), False)):
        imports_continue(clock=DeterministicClock(round(moment.timestamp() * 1000)))
        assert UPLOADS.file(record.uuid, FILE).exists() is is_there
    assert not Import.objects.exists()


def test_a_file_without_a_row_is_removed(uploads_dir: Path) -> None:
    uploads_dir.mkdir()
    (uploads_dir / "c0ffee.upload.part").write_bytes(b"x")
    imports_continue()
    assert list(uploads_dir.iterdir()) == []


def test_forgetting_a_person_removes_the_file(ana: Client, uploads_dir: Path) -> None:
    upload(ana, *FILES[Kind.MEM0])
    upload(browser_of(BEN), *FILES[Kind.MEM0])
    store = next(one for one in personal_stores() if one.name == "imports")
    assert store.count(ANA) == 1
    list(store.forget(ANA))
    assert list(store.find(ANA)) == []
    theirs = Import.objects.get()
    assert (theirs.user_id, [path.name for path in uploads_dir.iterdir()]) == (BEN, [f"{theirs.uuid}.upload"])


def test_nothing_is_taken_of_one_who_is_being_forgotten(ana: Client) -> None:
    with transaction.atomic():
        lock_user(ANA, utcnow(SYSTEM_CLOCK))
    assert "being deleted" in upload(ana, *FILES[Kind.MEM0])
    assert (Import.objects.count(), UPLOADS.strays()) == (0, [])


def test_a_pause_stops_apps_and_not_what_the_person_brings(ana: Client) -> None:
    pause_begin(user_id=ANA, until=None, actor="test")
    upload(ana, *FILES[Kind.MEM0])
    act(ana, "confirm")
    assert len(known()) == 2


def test_one_import_of_a_person_goes_on_at_a_time(ana: Client) -> None:
    upload(ana, *FILES[Kind.MEM0])
    import_begin(user_id=ANA, kind=Kind.CLAUDE, name="b", asked_by="test")
    page = ana.post(reverse("webui:bring_confirm", args=[Import.objects.earliest("pk").uuid]), follow=True)
    assert "Another import goes on" in page.content.decode()
    assert "Another import goes on" in upload(ana, *FILES[Kind.CHATGPT])
    assert "An import goes on" in ana.get(PAGE).content.decode()
    assert not known()


class Killed(BaseException):
    """The process ends."""


def test_a_worker_that_is_killed_goes_on_and_keeps_nothing_twice(ana: Client) -> None:
    files = {f"{number}.md": f"---\npermalink: p{number}\n---\n- [fact] Fact number {number}\n" for number in range(5)}
    upload(ana, "basic.zip", zip_of(files))
    record = Import.objects.get()
    ana.post(reverse("webui:bring_confirm", args=[record.uuid]))
    for place in ("kept", "counted", "kept"):

        def die(step: str, place: str = place) -> None:
            if step == place:
                raise Killed

        with pytest.raises(Killed):
            imports_continue(step=die)
    imports_continue()
    record.refresh_from_db()
    assert (record.state, record.counts["kept"]) == ("done", {"memories": 5, "notes": 5})
    assert len(known()) == 5


def test_one_that_ends_every_process_is_given_up_and_can_be_run_again(ana: Client) -> None:
    upload(ana, *FILES[Kind.MEM0])
    record = Import.objects.get()
    ana.post(reverse("webui:bring_confirm", args=[record.uuid]))

    def die(step: str) -> None:
        raise Killed

    for _ in range(MAX_TRIES):
        with pytest.raises(Killed):
            imports_continue(step=die)
    imports_continue(step=die)
    record.refresh_from_db()
    assert (record.state, record.problem) == ("failed", "interrupted")
    page = act(ana, "confirm", record)
    assert "It is brought in" in page
    assert (len(known()), Import.objects.get().counts["kept"]) == (2, {"memories": 2})


def test_one_that_another_process_works_on_is_left_to_it(ana: Client) -> None:
    upload(ana, *FILES[Kind.MEM0])
    record = Import.objects.get()
    ana.post(reverse("webui:bring_confirm", args=[record.uuid]))
    with worked_on(record):
        for _ in range(MAX_TRIES + 1):
            imports_continue()
    record.refresh_from_db()
    assert (record.state, record.tries, known()) == ("running", 0, set())
    imports_continue()
    assert len(known()) == 2


def test_a_task_ends_in_time_whatever_waits(ana: Client) -> None:
    browsers = {ANA: ana, BEN: browser_of(BEN)}
    for browser in browsers.values():
        upload(browser, *FILES[Kind.MEM0])
    for record in Import.objects.order_by("pk"):
        browsers[record.user_id].post(reverse("webui:bring_confirm", args=[record.uuid]))
    imports_continue(task_seconds=0)
    assert (len(known(ANA)), known(BEN)) == (2, set())
    imports_continue()
    assert len(known(BEN)) == 2


def test_one_that_is_out_of_time_goes_on_in_another_part(ana: Client) -> None:
    upload(ana, *FILES[Kind.MARKDOWN])
    record = Import.objects.get()
    ana.post(reverse("webui:bring_confirm", args=[record.uuid]))
    imports_continue(seconds=0)
    record.refresh_from_db()
    assert (record.state, record.position) == ("running", 1)
    imports_continue()
    record.refresh_from_db()
    assert (record.state, record.counts["kept"]) == ("done", {"notes": 2})


def test_a_fault_is_said_without_a_content(ana: Client, monkeypatch: Any, caplog: Any) -> None:
    said = "Ana plays the cello"

    def fail(*_: Any) -> None:
        raise ValueError(said)

    monkeypatch.setattr(work, "look_at", fail)
    assert "Something went wrong" in upload(ana, *FILES[Kind.MEM0])
    assert "ValueError" in caplog.text
    assert "cello" not in caplog.text


def test_a_look_that_is_out_of_time_says_so(ana: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "LOOK_SECONDS", 0.0)
    assert "counts of its first part" in upload(ana, *FILES[Kind.MARKDOWN])


def test_a_disk_that_takes_no_file_is_said(ana: Client, uploads_dir: Path) -> None:
    uploads_dir.write_text("no folder")
    answer = ana.post(PAGE, {"file": SimpleUploadedFile("x.json", b"[]")})
    assert "Choose a file" in answer.content.decode()
    assert not Import.objects.exists()


def test_the_ways_to_it(ana: Client) -> None:
    for name in ("webui:known", "webui:privacy", "webui:settings"):
        assert f'href="{PAGE}"' in ana.get(reverse(name)).content.decode()


def test_undoing_what_was_not_brought_in_is_refused(ana: Client) -> None:
    upload(ana, *FILES[Kind.MEM0])
    assert "changed meanwhile" in act(ana, "undo")
    assert Import.objects.get().state == ImportState.LOOKED
