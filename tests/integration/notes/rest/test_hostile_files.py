"""Files and paths that cannot be notes, over REST: a clear error, nothing outside is touched, nothing is lost."""

import os
from datetime import UTC, datetime
from urllib.parse import quote

import pytest

from apps.core.domain.scope import Scope
from apps.notes.domain.places import folder_name
from tests.api import api_for

pytestmark = pytest.mark.django_db
NOTES = "/api/memory"
LARGE = 50 * 1024 * 1024
# What a call for a note is addressed to: its address, where entries go, and its path.
KINDS = {"main": (f"{NOTES}/main", f"{NOTES}/main/entries", "MEMORY.md"), "daily": ("", "", "")}


@pytest.fixture(autouse=True)
def today():
    """The name of today's log: a new day may have begun since the tests were collected."""
    day = datetime.now(UTC).date().isoformat()
    KINDS["daily"] = (f"{NOTES}/daily/{day}", f"{NOTES}/daily/entries", f"daily/{day}.md")
    return day


@pytest.fixture
def ana():
    return api_for(Scope("ana"))


@pytest.fixture
def folder(notes_dir):
    return notes_dir / "users" / folder_name("ana")


def make_link(file, outside):
    file.symlink_to(outside)


def make_hard_link(file, outside):
    file.hardlink_to(outside)


def make_folder(file, outside):
    file.mkdir()
    (file / "inside.md").write_text("inside")


def make_pipe(file, outside):
    os.mkfifo(file)


def make_large(file, outside):
    with file.open("wb") as opened:
        opened.write(b"mine\n")
        opened.truncate(LARGE)


HOSTILE = {
    "symbolic link": (make_link, 409, "not_a_file"),
    "hard link": (make_hard_link, 409, "hard_link"),
    "folder": (make_folder, 409, "not_a_file"),
    "pipe": (make_pipe, 409, "not_a_file"),
    "50 MB": (make_large, 400, "too_large"),
}


def refusal(answer):
    return answer.status_code, answer.json()["errors"][0]["code"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_file_that_cannot_be_a_note_is_refused_and_left_alone(ana, folder, tmp_path, kind, hostile, today):
    """Its versions stay readable, and the note comes back with the file."""
    address, entries, path = KINDS[kind]
    make, *expected = HOSTILE[hostile]
    outside = tmp_path / "outside.md"
    outside.write_text("secret")
    assert ana.post(entries, {"entry": "tea"}).status_code == 201
    file = folder / path
    before = file.read_bytes()
    file.unlink()
    make(file, outside)
    status = os.lstat(file)

    assert refusal(ana.get(address)) == tuple(expected)
    assert refusal(ana.post(entries, {"entry": "rice", "operation_id": "turn-7"})) == tuple(expected)
    assert refusal(ana.call("PUT", address, {"text": "x", "base_sha256": "0" * 64})) == tuple(expected)
    listed = ana.get(f"{NOTES}/versions?path={path}")
    assert (listed.status_code, len(listed.json()["results"])) == (200, 1)
    version = f"{NOTES}/versions/{listed.json()['results'][0]['id']}"
    assert ana.get(version).json()["text"].encode() == before
    assert refusal(ana.post(f"{version}/restore")) == tuple(expected)
    days = [each["day"] for each in ana.get(f"{NOTES}/daily").json()["results"]]
    assert days == ([today] if kind == "daily" and hostile in {"50 MB", "hard link"} else []), "files are listed"

    now = os.lstat(file)
    assert (now.st_ino, now.st_size, now.st_mode) == (status.st_ino, status.st_size, status.st_mode), "untouched"
    assert outside.read_text() == "secret"
    file.rename(folder / "aside")
    file.write_bytes(before)
    assert ana.post(entries, {"entry": "rice", "operation_id": "turn-7"}).status_code == 201
    assert file.read_bytes().startswith(before)
    assert file.read_text().count("rice") == 1


TEXTS = {
    "CRLF": b"# Mine\r\n\r\n- tea\r\n",
    "BOM": b"\xef\xbb\xbf# Mine\n\n- tea\n",
    "front matter": b"---\ntitle: [unclosed\n---\n- tea\n",
    "no line end": b"# Mine",
    "lone carriage returns": b"a\rb\rc",
    "nothing": b"",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", TEXTS)
def test_every_byte_of_a_text_stays_through_every_call(ana, folder, kind, text):
    address, entries, path = KINDS[kind]
    file, before = folder / path, TEXTS[text]
    file.parent.mkdir(parents=True)
    file.write_bytes(before)
    shown = ana.get(address).json()
    assert shown["text"].encode() == before
    assert ana.post(entries, {"entry": "rice"}).status_code == 201
    assert file.read_bytes().startswith(before)
    assert file.read_bytes().count(b"\r\n") == before.count(b"\r\n") + (text == "CRLF")
    read = ana.get(address).json()
    edited = ana.call("PUT", address, {"text": read["text"] + "\r\nmore\n", "base_sha256": read["sha256"]})
    assert edited.status_code == 200
    assert file.read_bytes() == read["text"].encode() + b"\r\nmore\n"
    if before:
        versions = ana.get(f"{NOTES}/versions?path={path}").json()["results"]
        assert ana.post(f"{NOTES}/versions/{versions[-1]['id']}/restore").status_code == 200
        assert file.read_bytes() == before


PATHS = [
    *(
        "..",
        "../MEMORY.md",
        "daily/../../x.md",
        "/etc/passwd",
        "a\x00b.md",
        "a" * 300 + ".md",
        "NUL",
        "con.md",
        "aux/x.md",
    ),
    *("daily//x.md", ".hidden.md", "a\\b.md", "C:/x.md", "a./x.md", "users/ben/MEMORY.md", "Users/ben/MEMORY.md"),
    *("/".join("abcdefghi"), "e\u0301.md", "a\nb.md", "-\x7f.md"),
]


@pytest.mark.parametrize("path", PATHS)
def test_path_that_could_lead_elsewhere_is_refused(ana, path):
    answer = ana.get(f"{NOTES}/versions?path={quote(path, safe='')}")
    assert (answer.status_code, answer.json()["errors"][0]["attr"]) == (400, "path")


def test_folder_that_was_replaced_as_a_whole_loses_no_version(ana, folder, today):
    """A drive that is not mounted shows an empty folder; a checkout or a backup brings older files."""
    for entry in ("tea", "rice"):
        ana.post(f"{NOTES}/main/entries", {"entry": entry})
    ana.post(f"{NOTES}/daily/entries", {"entry": "the boat is back"})
    aside = folder.with_name("aside")
    folder.rename(aside)
    folder.mkdir()
    assert not ana.get(f"{NOTES}/main").json()["exists"]
    assert ana.get(f"{NOTES}/daily").json()["results"] == []
    ana.post(f"{NOTES}/main/entries", {"entry": "plums"})
    (folder / "MEMORY.md").unlink()
    folder.rename(folder.with_name("empty"))
    aside.rename(folder)
    # What was added in between comes back; what was there before is there once.
    assert ana.get(f"{NOTES}/main").json()["text"] == "- tea\n- rice\n- plums\n"
    assert "the boat is back" in ana.get(f"{NOTES}/daily/{today}").json()["text"]
    texts = {
        ana.get(f"{NOTES}/versions/{each['id']}").json()["text"]
        for each in ana.get(f"{NOTES}/versions?path=MEMORY.md").json()["results"]
    }
    assert {"- tea\n", "- tea\n- rice\n", "", "- plums\n"} <= texts


def test_note_that_was_renamed_and_back_has_what_was_added_in_between(ana, folder):
    ana.post(f"{NOTES}/main/entries", {"entry": "tea"})
    file = folder / "MEMORY.md"
    file.rename(folder / "past.md")
    ana.post(f"{NOTES}/main/entries", {"entry": "rice"})
    assert file.read_text() == "- rice\n"
    (folder / "past.md").rename(file)
    assert ana.get(f"{NOTES}/main").json()["text"] == "- tea\n- rice\n"


def test_deleted_log_stays_deleted(ana, folder):
    ana.post(f"{NOTES}/daily/entries", {"entry": "tea"})
    (folder / KINDS["daily"][2]).unlink()
    for _ in range(2):
        assert not ana.get(KINDS["daily"][0]).json()["exists"]
    assert ana.get(f"{NOTES}/daily").json()["results"] == []
    ana.post(f"{NOTES}/daily/entries", {"entry": "rice"})
    assert "tea" not in (folder / KINDS["daily"][2]).read_text()


def test_name_in_other_capitals_is_another_note(ana, folder):
    """On a disk that tells capitals apart; nothing of either is lost."""
    folder.mkdir(parents=True)
    (folder / "memory.md").write_text("mine\n")
    if (folder / "MEMORY.md").exists():
        pytest.skip("this disk does not tell capitals apart")
    ana.post(f"{NOTES}/main/entries", {"entry": "tea"})
    assert (folder / "memory.md").read_text() == "mine\n"
    assert (folder / "MEMORY.md").read_text() == "- tea\n"
