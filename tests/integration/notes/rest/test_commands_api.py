"""The file commands of Anthropic's memory tool over REST and as a tool."""

from typing import Any

import pytest

from apps.core.domain.scope import Permission, Scope, system_access
from apps.llm.domain.protocol.results import Protocol, ToolRequest
from apps.llm.tools.requests import tool_registry
from apps.notes.domain.places import folder_name
from apps.notes.models import NoteVersion
from tests.api import Api, api_for
from tests.unit.notes.test_command_texts import REFUSED

pytestmark = pytest.mark.django_db
NOTES = "/api/memory"
ROOT = "/memories"


@pytest.fixture
def ana() -> Api:
    """A caller with a key of ana's."""
    return api_for(Scope("ana"))


@pytest.fixture
def folder(notes_dir):
    """The folder of ana's notes."""
    path = notes_dir / "users" / folder_name("ana")
    path.mkdir(parents=True)
    return path


def run(api: Api, command: str, path: str | None = None, **parameters: Any) -> dict[str, Any]:
    body = {"command": command, **({} if path is None else {"path": path}), **parameters}
    response = api.post(f"{NOTES}/commands", body)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def done(api: Api, command: str, path: str | None = None, **parameters: Any) -> str:
    answer = run(api, command, path, **parameters)
    assert not answer["is_error"], answer
    return str(answer["text"])


def failed(api: Api, command: str, path: str | None = None, **parameters: Any) -> str:
    answer = run(api, command, path, **parameters)
    assert (answer["is_error"], answer["version"]) == (True, None), answer
    return str(answer["text"])


def versions(api: Api, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get(f"{NOTES}/versions?path={path}").json()["results"]
    return found


def test_a_model_keeps_files(ana, folder):
    assert done(ana, "view", ROOT) == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n0B\t/memories"
    )
    assert done(ana, "create", f"{ROOT}/trips/oslo.md", file_text="# Oslo\n\n- hotel: Elm\n") == (
        "File created successfully at: /memories/trips/oslo.md"
    )
    assert done(ana, "str_replace", f"{ROOT}/trips/oslo.md", old_str="Elm", new_str="Oak") == (
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        "     1\t# Oslo\n     2\t\n     3\t- hotel: Oak\n     4\t"
    )
    assert done(ana, "insert", f"{ROOT}/trips/oslo.md", insert_line=3, insert_text="- train at 9\n") == (
        "The file /memories/trips/oslo.md has been edited."
    )
    assert (folder / "trips" / "oslo.md").read_text() == "# Oslo\n\n- hotel: Oak\n- train at 9\n"
    assert done(ana, "view", f"{ROOT}/trips/oslo.md", view_range=[3, -1]).endswith(
        "\n     3\t- hotel: Oak\n     4\t- train at 9\n     5\t"
    )
    assert done(ana, "rename", old_path=f"{ROOT}/trips/oslo.md", new_path=f"{ROOT}/past/oslo.txt") == (
        "Successfully renamed /memories/trips/oslo.md to /memories/past/oslo.txt"
    )
    assert done(ana, "delete", f"{ROOT}/past/oslo.txt") == "Successfully deleted /memories/past/oslo.txt"
    assert not (folder / "past" / "oslo.txt").exists()


def test_listing_has_two_levels_and_only_notes(ana, folder):
    (folder / "a" / "b" / "c").mkdir(parents=True)
    (folder / "MEMORY.md").write_bytes(b"x" * 2048)
    (folder / "a" / "b" / "c" / "deep.md").write_bytes(b"x" * 100)
    (folder / "a" / "one.xml").write_bytes(b"x" * 24)
    for name in ("memory-config.json", ".hidden.md", "a/photo.jpg", "memory-config.json.broken-1"):
        (folder / name).write_text("x")
    (folder / "link.md").symlink_to("/etc/passwd")
    assert done(ana, "view", f"{ROOT}/").splitlines()[1:] == [
        "2.1K\t/memories", "2K\t/memories/MEMORY.md", "124B\t/memories/a/", "100B\t/memories/a/b/",
        "24B\t/memories/a/one.xml",
    ]  # fmt: skip
    assert done(ana, "view", f"{ROOT}/a/").splitlines()[1:] == [
        "124B\t/memories/a", "100B\t/memories/a/b/", "100B\t/memories/a/b/c/", "24B\t/memories/a/one.xml"
    ]  # fmt: skip


def test_create_over_a_note_keeps_what_it_was(ana, folder):
    (folder / "MEMORY.md").write_text("mine")
    answer = run(ana, "create", f"{ROOT}/MEMORY.md", file_text="new")
    assert answer["version"]["kind"] == "edit"
    found = versions(ana, "MEMORY.md")
    assert [each["kind"] for each in found] == ["edit", "found"]
    ana.post(f"{NOTES}/versions/{found[1]['id']}/restore")
    assert (folder / "MEMORY.md").read_text() == "mine"


def test_deleted_note_is_restored(ana, folder):
    ana.post(f"{NOTES}/main/entries", {"entry": "tea"})
    deleted = run(ana, "delete", f"{ROOT}/MEMORY.md")
    assert (deleted["version"]["kind"], deleted["version"]["size"]) == ("delete", 0)
    assert not ana.get(f"{NOTES}/main").json()["exists"]
    assert failed(ana, "view", f"{ROOT}/MEMORY.md") == (
        "The path /memories/MEMORY.md does not exist. Please provide a valid path."
    )
    assert failed(ana, "delete", f"{ROOT}/MEMORY.md").startswith("The path /memories/MEMORY.md does not exist")
    ana.post(f"{NOTES}/versions/{versions(ana, 'MEMORY.md')[-1]['id']}/restore")
    assert (folder / "MEMORY.md").read_text() == "- tea\n"


def test_deleted_folder_keeps_what_is_no_note(ana, folder):
    done(ana, "create", f"{ROOT}/a/b/one.md", file_text="one")
    done(ana, "create", f"{ROOT}/a/two.md", file_text="two")
    (folder / "a" / "photo.jpg").write_text("x")
    assert done(ana, "delete", f"{ROOT}/a") == "Successfully deleted /memories/a"
    assert failed(ana, "view", f"{ROOT}/a").endswith("does not exist. Please provide a valid path.")
    assert (folder / "a" / "photo.jpg").exists()
    assert [each["kind"] for each in versions(ana, "a/b/one.md")] == ["delete", "edit"]


def test_renaming_says_where_a_note_went_and_came_from(ana, folder):
    done(ana, "create", f"{ROOT}/a.md", file_text="one")
    answer = run(ana, "rename", old_path=f"{ROOT}/a.md", new_path=f"{ROOT}/b/c.md")
    assert (answer["version"]["path"], answer["version"]["other_path"]) == ("b/c.md", "a.md")
    gone = versions(ana, "a.md")
    assert [(each["kind"], each["other_path"]) for each in gone] == [("rename", "b/c.md"), ("edit", None)]
    came = versions(ana, "b/c.md")[0]
    assert ana.get(f"{NOTES}/versions/{came['id']}").json()["text"] == "one"


def test_folder_is_renamed_with_everything_in_it(ana, folder):
    done(ana, "create", f"{ROOT}/a/b/one.md", file_text="one")
    done(ana, "create", f"{ROOT}/a/two.md", file_text="two")
    (folder / "a" / "photo.jpg").write_text("x")
    done(ana, "rename", old_path=f"{ROOT}/a", new_path=f"{ROOT}/past/2025")
    assert sorted(path.name for path in (folder / "past" / "2025").rglob("*") if path.is_file()) == [
        "one.md", "photo.jpg", "two.md"
    ]  # fmt: skip
    assert versions(ana, "past/2025/b/one.md")[0]["other_path"] == "a/b/one.md"
    assert "itself" in failed(ana, "rename", old_path=f"{ROOT}/past", new_path=f"{ROOT}/past/more")


def test_nothing_is_renamed_over_something(ana, folder):
    for name in ("a.md", "b.md"):
        done(ana, "create", f"{ROOT}/{name}", file_text=name)
    (folder / "c").mkdir()
    (folder / "c" / "mine.jpg").write_text("x")
    for name in ("b.md", "a.md"):
        assert failed(ana, "rename", old_path=f"{ROOT}/a.md", new_path=f"{ROOT}/{name}") == (
            f"The destination /memories/{name} already exists"
        )
    done(ana, "create", f"{ROOT}/d/e.md", file_text="e")
    assert "already exists" in failed(ana, "rename", old_path=f"{ROOT}/d", new_path=f"{ROOT}/c")
    assert "already exists" in failed(ana, "rename", old_path=f"{ROOT}/d", new_path=ROOT)
    assert (folder / "b.md").read_text() == "b.md"
    assert not NoteVersion.objects.filter(place="a.md", is_written=False).exists() or (
        ana.get(f"{NOTES}/versions?path=a.md").json()["results"][0]["kind"] == "edit"
    )
    assert failed(ana, "rename", old_path=f"{ROOT}/x.md", new_path=f"{ROOT}/y.md").startswith("The path /memories/x.md")


def test_folder_takes_the_name_of_one_that_was_deleted(ana, folder):
    done(ana, "create", f"{ROOT}/a/one.md", file_text="one")
    done(ana, "delete", f"{ROOT}/a")
    for path in (folder / "a").glob(".*"):
        path.unlink()  # as after a few seconds
    done(ana, "create", f"{ROOT}/b/two.md", file_text="two")
    done(ana, "rename", old_path=f"{ROOT}/b", new_path=f"{ROOT}/a")
    assert (folder / "a" / "two.md").read_text() == "two"


@pytest.mark.parametrize("kind", [kind for kind in REFUSED if kind not in {"surrogate", "nul"}])
def test_hostile_path_reads_and_writes_nothing(ana, folder, notes_dir, kind):
    path = REFUSED[kind]
    (notes_dir / "users" / "ben").mkdir()
    for other in (notes_dir / "users" / "ben" / "MEMORY.md", folder / "memory-config.json"):
        other.write_text("secret")
    before = {each: each.read_bytes() for each in notes_dir.rglob("*") if each.is_file()}
    for command, parameters in {
        "create": {"file_text": "x"}, "str_replace": {"old_str": "secret"},
        "insert": {"insert_line": 0, "insert_text": "x"}, "delete": {},
    }.items():  # fmt: skip
        failed(ana, command, path, **parameters)
    assert "secret" not in run(ana, "view", path)["text"]
    failed(ana, "rename", old_path=path, new_path=f"{ROOT}/mine.md")
    done(ana, "create", f"{ROOT}/own.md", file_text="own")
    failed(ana, "rename", old_path=f"{ROOT}/own.md", new_path=path)
    (folder / "own.md").unlink()
    now = {each: each.read_bytes() for each in notes_dir.rglob("*") if each.is_file()}
    assert {each: text for each, text in now.items() if not each.name.startswith(".")} == before


def test_nul_is_refused(ana):
    assert ana.post(f"{NOTES}/commands", {"command": "view", "path": "/memories/a\0.md"}).status_code == 400


def test_links_are_not_followed(ana, folder, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.md").write_text("secret")
    (folder / "dir").symlink_to(tmp_path / "outside")
    (folder / "file.md").symlink_to(tmp_path / "outside" / "x.md")
    for path in (f"{ROOT}/dir/x.md", f"{ROOT}/file.md"):
        for command, parameters in {
            "view": {}, "create": {"file_text": "x"}, "str_replace": {"old_str": "secret"}, "delete": {},
        }.items():  # fmt: skip
            assert "secret" not in failed(ana, command, path, **parameters).replace("old_str `secret`", "")
        failed(ana, "rename", old_path=path, new_path=f"{ROOT}/mine.md")
    done(ana, "create", f"{ROOT}/own.md", file_text="own")
    failed(ana, "rename", old_path=f"{ROOT}/own.md", new_path=f"{ROOT}/dir/y.md")
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["x.md"]
    assert (folder / "file.md").is_symlink()


def test_text_that_is_not_utf8_is_shown_but_not_edited(ana, folder):
    (folder / "MEMORY.md").write_bytes(b"caf\xe9\r\n")
    assert "caf\ufffd" in done(ana, "view", f"{ROOT}/MEMORY.md")
    assert "not valid UTF-8" in failed(ana, "str_replace", f"{ROOT}/MEMORY.md", old_str="caf", new_str="x")
    assert (folder / "MEMORY.md").read_bytes() == b"caf\xe9\r\n"


@pytest.mark.parametrize(
    ("body", "attr"),
    [
        ({"command": "view"}, "path"),
        ({"command": "create", "path": f"{ROOT}/a.md"}, "file_text"),
        ({"command": "create", "path": f"{ROOT}/a.md", "file_text": None}, "file_text"),
        ({"command": "insert", "path": f"{ROOT}/a.md", "insert_text": "x"}, "insert_line"),
        ({"command": "rename", "path": f"{ROOT}/a.md"}, "old_path"),
        ({"command": "remove", "path": f"{ROOT}/a.md"}, "command"),
        ({"command": "view", "path": ROOT, "view_range": [1]}, "view_range"),
        ({"command": "view", "path": ROOT, "depth": 3}, "depth"),
    ],
)
def test_command_without_what_it_needs_is_refused(ana, body, attr):
    refused = ana.post(f"{NOTES}/commands", body)
    assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, attr)


def test_what_a_command_does_not_need_may_be_null(ana):
    done(ana, "create", f"{ROOT}/a.md", file_text="x", view_range=None, old_str=None, insert_line=None)


def test_key_that_only_reads_views(ana, folder):
    done(ana, "create", f"{ROOT}/a.md", file_text="x")
    reader = api_for(Scope("ana"), Permission.READ)
    assert done(reader, "view", f"{ROOT}/a.md").endswith("\tx")
    assert reader.post(f"{NOTES}/commands", {"command": "delete", "path": f"{ROOT}/a.md"}).status_code == 403
    assert (folder / "a.md").exists()


def test_key_sees_only_the_notes_of_its_user(ana):
    done(ana, "create", f"{ROOT}/a.md", file_text="a secret")
    ben = api_for(Scope("ben"))
    body = {"user_id": "ana", "path": f"{ROOT}/a.md"}
    assert ben.post(f"{NOTES}/commands", {**body, "command": "view"}).status_code == 404
    assert ben.post(f"{NOTES}/commands", {**body, "command": "delete"}).status_code == 403
    assert "does not exist" in failed(ben, "view", f"{ROOT}/a.md")


def test_a_model_requests_the_tool(folder):
    def execute(**parameters: Any) -> Any:
        request = ToolRequest(Protocol.ABP, "memory", {"user_id": "ana", **parameters}, (0, 0))
        return tool_registry().execute(system_access("test"), request)

    created = execute(command="create", path=f"{ROOT}/a.md", file_text="x")
    assert created.value == {"text": "File created successfully at: /memories/a.md", "is_error": False}
    assert execute(command="view", path="/etc/passwd").value["is_error"]
    assert not execute(command="view").is_done
    assert (folder / "a.md").read_text() == "x"
