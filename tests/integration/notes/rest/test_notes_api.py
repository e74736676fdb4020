"""Notes over REST (spec 001, memory files and memory REST API)."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from apps.core.domain.scope import Permission, Scope
from apps.notes.domain.places import folder_name, parse_place
from apps.notes.files.versions import add_version
from apps.notes.models import ChangeKind, NoteVersion
from apps.notes.services import NotesOwnerError, notes_prepare
from tests.api import Api, api_for

pytestmark = pytest.mark.django_db
NOTES = "/api/memory"


@pytest.fixture
def ana() -> Api:
    """A caller with a key of ana's."""
    return api_for(Scope("ana"))


@pytest.fixture
def main(notes_dir):
    """The path of ana's MEMORY.md."""
    return notes_dir / "users" / folder_name("ana") / "MEMORY.md"


def put(api: Api, path: str, body: dict[str, Any]) -> Any:
    return api.call("PUT", path, body)


def append(api: Api, entry: str, **fields: Any) -> dict[str, Any]:
    response = api.post(f"{NOTES}/main/entries", {"entry": entry, **fields})
    assert response.status_code in {200, 201}, response.content
    answer: dict[str, Any] = response.json()
    return answer


def test_memory_md_persistence(ana, main):
    """Spec 001: a fact is added to MEMORY.md."""
    assert append(ana, "likes green tea", category="Preferences")["action"] == "added"
    append(ana, "rows on Sundays", category="Preferences")
    assert main.read_text() == "## Preferences\n\n- likes green tea\n- rows on Sundays\n"
    shown = ana.get(f"{NOTES}/main").json()
    assert shown["text"] == main.read_text()
    assert (shown["exists"], shown["is_utf8"], shown["version"]) == (True, True, 2)


def test_daily_log(ana, notes_dir):
    """Spec 001: a note of a time is added to the log of the day, that of the person's time zone."""
    response = ana.post(f"{NOTES}/daily/entries", {"entry": "the boat is back", "timezone": "Pacific/Kiritimati"})
    assert response.status_code == 201
    path = response.json()["version"]["path"]
    assert (notes_dir / "users" / "ana" / path).read_text().endswith(" the boat is back\n")
    listed = ana.get(f"{NOTES}/daily").json()
    assert [each["path"] for each in listed["results"]] == [path]
    assert ana.get(f"{NOTES}/daily/{listed['results'][0]['day']}").json()["text"].startswith("- ")


def test_day_is_that_of_the_time_zone(ana):
    places = [
        ana.post(f"{NOTES}/daily/entries", {"entry": "x", "timezone": zone}).json()["version"]["path"]
        for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago")
    ]
    assert places[0] != places[1], "25 hours apart"
    refused = ana.post(f"{NOTES}/daily/entries", {"entry": "x", "timezone": "Mars/Base"})
    assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, "timezone")


def test_crud_operations(ana, main):
    """Spec 001: GET and PUT /api/memory/main read and write MEMORY.md."""
    empty = ana.get(f"{NOTES}/main").json()
    assert (empty["text"], empty["exists"], empty["version"]) == ("", False, None)
    assert put(ana, f"{NOTES}/main", {"text": "# Memory\n"}).status_code == 200
    assert main.read_text() == "# Memory\n"
    shown = ana.get(f"{NOTES}/main").json()
    answer = put(ana, f"{NOTES}/main", {"text": "# Memory\r\n\r\n*tea*", "base_sha256": shown["sha256"]})
    assert answer.status_code == 200
    assert main.read_bytes() == b"# Memory\r\n\r\n*tea*"
    assert ana.get(f"{NOTES}/main").json()["text"] == "# Memory\r\n\r\n*tea*"


def test_edit_of_another_text_than_was_read_is_refused_with_the_present_one(ana, main):
    append(ana, "likes tea")
    read = ana.get(f"{NOTES}/main").json()
    append(ana, "likes rice")
    refused = put(ana, f"{NOTES}/main", {"text": "mine", "base_sha256": read["sha256"]})
    error = refused.json()["errors"][0]
    assert (refused.status_code, error["code"], error["current"]) == (409, "note_changed", main.read_text())
    versions = ana.get(f"{NOTES}/versions?path=MEMORY.md").json()["results"]
    assert [each["kind"] for each in versions] == ["kept", "append", "append"]
    assert ana.get(f"{NOTES}/versions/{versions[0]['id']}").json()["text"] == "mine"
    missing = put(ana, f"{NOTES}/main", {"text": "mine"})
    assert (missing.status_code, missing.json()["errors"][0]["attr"]) == (400, "base_sha256")


def test_the_same_operation_adds_once(ana, main):
    first = append(ana, "likes tea", operation_id="turn-7")
    second = append(ana, "likes tea", operation_id="turn-7")
    assert (second["action"], second["version"]) == ("known", first["version"])
    assert main.read_text() == "- likes tea\n"
    elsewhere = ana.post(f"{NOTES}/daily/entries", {"entry": "tea", "operation_id": "turn-7"})
    assert (elsewhere.status_code, elsewhere.json()["errors"][0]["code"]) == (409, "operation_used")


def test_former_version_is_restored(ana, main):
    append(ana, "likes tea")
    read = ana.get(f"{NOTES}/main").json()
    put(ana, f"{NOTES}/main", {"text": "", "base_sha256": read["sha256"]})
    versions = ana.get(f"{NOTES}/versions?path=MEMORY.md").json()["results"]
    restored = ana.post(f"{NOTES}/versions/{versions[-1]['id']}/restore")
    assert (restored.status_code, restored.json()["kind"]) == (200, "restore")
    assert main.read_text() == "- likes tea\n"
    authors = {each["author"] for each in ana.get(f"{NOTES}/versions?path=MEMORY.md").json()["results"]}
    assert len(authors) == 1
    assert "disk" not in authors


def test_text_that_is_not_utf8_can_be_added_to_and_is_kept(ana, main):
    main.parent.mkdir(parents=True)
    main.write_bytes(b"caf\xe9\r\n")
    shown = ana.get(f"{NOTES}/main").json()
    assert (shown["is_utf8"], shown["text"]) == (False, "caf\ufffd\r\n")
    refused = put(ana, f"{NOTES}/main", {"text": "cafe", "base_sha256": shown["sha256"]})
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, "not_utf8")
    append(ana, "likes rice")
    assert main.read_bytes().startswith(b"caf\xe9\r\n")
    assert main.read_bytes().endswith(b"- likes rice\r\n")


def test_default_user_has_the_folder_itself(settings, notes_dir):

    settings.MEMORYHUB = replace(settings.MEMORYHUB, default_user="ana")
    append(api_for(Scope(), Permission.OPERATOR), "likes tea")
    append(api_for(Scope("ben")), "likes rice")
    assert (notes_dir / "MEMORY.md").read_text() == "- likes tea\n"
    assert (notes_dir / "users" / "ben" / "MEMORY.md").read_text() == "- likes rice\n"


def test_call_without_a_user_says_so():
    refused = api_for(Scope(), Permission.OPERATOR).post(f"{NOTES}/main/entries", {"entry": "tea"})
    assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, "user_id")


def test_key_sees_only_the_notes_of_its_user(ana):
    secret = append(ana, "a secret")
    ben = api_for(Scope("ben"))
    assert ben.get(f"{NOTES}/main?user_id=ana").status_code == 404
    assert ben.get(f"{NOTES}/versions/{secret['version']['id']}").status_code == 404
    assert ben.post(f"{NOTES}/versions/{secret['version']['id']}/restore").status_code == 404
    assert ben.get(f"{NOTES}/versions?path=MEMORY.md&user_id=ana").status_code == 404
    assert ben.post(f"{NOTES}/main/entries", {"entry": "x", "user_id": "ana"}).status_code == 403
    assert put(ben, f"{NOTES}/main", {"text": "x", "user_id": "ana"}).status_code == 403
    assert ben.get(f"{NOTES}/main").json()["text"] == ""


@pytest.mark.parametrize("scope", [Scope("ana", household_id="elm"), Scope(persona_id="guide")], ids=["house", "role"])
def test_key_for_a_part_of_a_person_has_no_notes(scope):
    api = api_for(scope)
    assert api.get(f"{NOTES}/main?user_id=ana").status_code == 403
    assert api.post(f"{NOTES}/main/entries", {"entry": "x", "user_id": "ana"}).status_code == 403


def test_key_that_only_reads_may_not_write():
    api = api_for(Scope("ana"), Permission.READ)
    assert api.get(f"{NOTES}/main").status_code == 200
    assert api.post(f"{NOTES}/main/entries", {"entry": "x"}).status_code == 403
    assert put(api, f"{NOTES}/main", {"text": "x"}).status_code == 403


def test_day_that_no_calendar_has_is_not_found(ana):
    assert ana.get(f"{NOTES}/daily/2026-02-30").status_code == 404
    today = datetime.now(UTC).date().isoformat()
    assert put(ana, f"{NOTES}/daily/{today}", {"text": "plain"}).status_code == 200
    assert ana.get(f"{NOTES}/daily").json()["count"] == 1


def test_text_beyond_the_limit_is_refused(ana):
    refused = put(ana, f"{NOTES}/main", {"text": "é" * (3 * 1024 * 1024)})
    assert refused.status_code in {400, 413}
    assert not ana.get(f"{NOTES}/main").json()["exists"]


@pytest.mark.parametrize("name", ["passwords.kdbx", "work.md.bak", "past/list.json"])
def test_file_that_is_no_note_has_no_versions(ana, main, name):
    """A key that reads notes does not record, show or restore other files of the person in the folder."""
    path = main.parent / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("secret")
    asked = f"{NOTES}/versions?path={name}"
    assert ana.get(asked).status_code == 404
    assert not NoteVersion.objects.exists()
    # What an earlier release recorded is not shown either.
    place = parse_place(name)
    version = add_version("ana", place, ChangeKind.FOUND, b"secret", author="disk", at=datetime.now(UTC))
    path.write_text("a later secret")
    assert ana.get(f"{NOTES}/versions/{version.uuid}").status_code == 404
    assert ana.post(f"{NOTES}/versions/{version.uuid}/restore").status_code == 404
    assert path.read_text() == "a later secret"


def test_settings_have_versions(ana):
    ana.call("PATCH", f"{NOTES}/config", {"minNewMessages": 7})
    listed = ana.get(f"{NOTES}/versions?path=memory-config.json").json()["results"]
    assert ana.get(f"{NOTES}/versions/{listed[0]['id']}").json()["text"]


def test_repeated_entry_of_a_daily_log_is_known_on_another_day(ana):
    """A retry after midnight, or with another time zone, adds nothing."""
    body = {"entry": "the boat is back", "operation_id": "turn-8", "timezone": "Pacific/Kiritimati"}
    first = ana.post(f"{NOTES}/daily/entries", body)
    again = ana.post(f"{NOTES}/daily/entries", {**body, "timezone": "Pacific/Pago_Pago"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == {"action": "known", "version": first.json()["version"]}
    assert len(ana.get(f"{NOTES}/daily").json()["results"]) == 1


def test_another_default_user_does_not_get_the_notes_of_the_former_one(settings, notes_dir):
    def become(user: str) -> None:
        settings.MEMORYHUB = replace(settings.MEMORYHUB, default_user=user)

    become("ana")
    notes_prepare()
    become("bea")
    notes_prepare()  # nothing is there yet
    become("ana")
    assert api_for(Scope("ana")).post("/api/memory/main/entries", {"entry": "Ana likes tea"}).status_code == 201
    become("bob")
    with pytest.raises(NotesOwnerError, match="MEMORYHUB_DEFAULT_USER"):
        notes_prepare()
    assert api_for(Scope("bob")).get("/api/memory/main").status_code == 409
    (notes_dir / "users" / "ana").mkdir(parents=True)
    (notes_dir / "MEMORY.md").rename(notes_dir / "users" / "ana" / "MEMORY.md")
    for path in notes_dir.glob(".*"):
        path.unlink()
    notes_prepare()
    assert api_for(Scope("bob")).get("/api/memory/main").json()["text"] == ""
    assert "tea" in api_for(Scope("ana")).get("/api/memory/main").json()["text"]


def test_all_versions_are_reached_page_by_page(ana, main):
    """Spec 001, CRUD 操作: `next` of a page of versions leads to the older ones, and `previous` back."""
    for number in range(5):
        append(ana, f"fact {number}")
    address, numbers, previous = f"{NOTES}/versions?path=MEMORY.md&limit=2", [], None
    while address:
        page = ana.get(address.removeprefix("http://testserver"))
        assert page.status_code == 200, page.content
        numbers.append([each["number"] for each in page.json()["results"]])
        address, previous = page.json()["next"], page.json()["previous"]
    assert numbers == [[5, 4], [3, 2], [1]]
    back = ana.get(previous.removeprefix("http://testserver")).json()
    assert [each["number"] for each in back["results"]] == [3, 2]


@pytest.mark.parametrize("name", ["entry", "fact", "content", "text"])
def test_entry_has_the_names_of_rest_and_tools(ana, main, name):
    """Spec 001, append_memory tool: one vocabulary, whoever calls."""
    assert ana.post(f"{NOTES}/main/entries", {name: "likes tea"}).status_code == 201
    assert main.read_text() == "- likes tea\n"
    request = f'[[ABP_TOOL:append_memory]]{{"{name}": "likes rice"}}'
    assert ana.post("/api/llm/tools/execute", {"text": request}).json()["results"][0]["outcome"] == "done"
    assert main.read_text() == "- likes tea\n- likes rice\n"


def test_two_names_of_one_field_that_differ_are_refused(ana):
    refused = ana.post(f"{NOTES}/main/entries", {"entry": "tea", "fact": "rice"})
    assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, "fact")
    assert ana.post(f"{NOTES}/main/entries", {"entry": "tea", "fact": "tea"}).status_code == 201
    assert ana.get(f"{NOTES}/search?q=tea&query=rice").status_code == 400
    assert ana.get(f"{NOTES}/search?query=tea").json()["count"] == 1


def test_log_of_today_has_an_address(ana):
    """Spec 001, 每日日誌: /api/memory/daily/today is that of the person's time zone."""
    added = ana.post(f"{NOTES}/daily/entries", {"content": "the boat is back", "timezone": "Pacific/Kiritimati"})
    shown = ana.get(f"{NOTES}/daily/today?timezone=Pacific/Kiritimati").json()
    assert shown["path"] == added.json()["version"]["path"]
    assert "the boat is back" in shown["text"]
    assert ana.get(f"{NOTES}/daily/today?timezone=Nowhere").status_code == 400


@pytest.mark.parametrize(
    "call",
    [
        {"type": "tool_use", "id": "toolu_1", "name": "append_memory", "input": {"fact": "likes tea"}},
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "append_memory", "arguments": '{"fact": "likes tea"}'},
        },
        {"type": "function_call", "call_id": "c", "name": "append_memory", "arguments": '{"fact": "likes tea"}'},
    ],
)
def test_call_of_a_provider_is_executed_as_it_is(ana, main, call):
    """Spec 001, append_memory tool: a call that OpenAI or Anthropic hands over needs no translation."""
    answer = ana.post("/api/llm/tools/execute", call).json()
    assert [each["outcome"] for each in answer["results"]] == ["done"]
    assert main.read_text() == "- likes tea\n"


@pytest.mark.parametrize("call", [{"type": "tool_use", "name": "a]]b", "input": {}}, {"type": "tool_use"}, {"type": 7}])
def test_what_is_no_call_is_refused(ana, call):
    assert ana.post("/api/llm/tools/execute", call).status_code == 400
