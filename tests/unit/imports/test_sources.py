"""Files are read as streams, in bounded memory, and hostile archives are refused as a whole."""

import io
import json
import stat
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.imports.sources import stream
from apps.imports.sources.archive import SourceError, open_source
from apps.imports.sources.stream import TOO_LARGE, json_items

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def items(text: str, *lists: str) -> list[object]:
    return list(json_items(io.BytesIO(text.encode("utf-8", "surrogatepass")), lists))


@given(st.lists(JSON, max_size=5))
def test_the_items_of_a_list_are_those_of_a_parser(values: list[object]) -> None:
    assert items(json.dumps(values)) == values


@given(st.lists(JSON, max_size=4), st.dictionaries(st.sampled_from("abc"), JSON, max_size=3))
def test_the_items_of_a_list_inside_an_object_are_found(values: list[object], others: dict[str, object]) -> None:
    assert items(json.dumps({**others, "results": values}), "results") == values


@given(st.dictionaries(st.text(max_size=3), JSON, min_size=1, max_size=4))
def test_an_object_alone_is_one_item(value: dict[str, object]) -> None:
    assert items(json.dumps(value)) == [value]


def test_an_item_that_is_too_large_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MAX_ITEM_CHARS", 50)
    small, large = {"a": "x"}, {"a": ["y" * 30, "z" * 30]}
    assert items(json.dumps([small, large, small])) == [small, TOO_LARGE, small]


def test_an_item_that_is_too_deep_is_refused() -> None:
    assert items("[" + "[" * 5_000 + "]" * 5_000 + ", 1]") == [TOO_LARGE, 1]


def test_a_text_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MAX_SILENT_BYTES", 200_000)
    with pytest.raises(SourceError) as refused:
        items(json.dumps(["x" * 500_000]))
    assert refused.value.code == "too_large_item"


@pytest.mark.parametrize("text", ["", "[1, 2", "{]", "[1}", "not json", "[1] [2]"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(SourceError) as refused:
        items(text)
    assert refused.value.code == "not_json"


class Endless:
    """A list of so many small items, made as it is read."""

    def __init__(self, count: int) -> None:
        self.parts = iter(["[1", *([', {"a": "' + "x" * 1_000 + '"}'] * count), "]"])

    def read(self, size: int) -> bytes:
        return next(self.parts, "").encode()


def test_memory_does_not_grow_with_the_file() -> None:
    tracemalloc.start()
    count = sum(1 for _ in json_items(Endless(30_000)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 30_001
    assert peak < 2_000_000  # of 30 MB


def archive_of(path: Path, *names: str | zipfile.ZipInfo, data: bytes = b"[]") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, data)
    return path


def code_of(path: Path) -> str:
    with pytest.raises(SourceError) as refused, open_source(path):
        pass
    return refused.value.code


@pytest.mark.parametrize("name", ["/etc/notes.md", "../notes.md", "a/../../b.md", "C:/notes.md", "a\\..\\b.md"])
def test_an_archive_with_a_path_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    info = zipfile.ZipInfo("x")
    info.filename = info.orig_filename = name
    assert code_of(archive_of(tmp_path / "a.zip", "conversations.json", info)) == "unsafe_path"


def test_an_archive_with_a_link_is_refused(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("notes.md")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert code_of(archive_of(tmp_path / "a.zip", info, data=b"/etc/passwd")) == "unsafe_path"


def test_an_archive_that_explodes_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    assert code_of(archive_of(tmp_path / "a.zip", "conversations.json", data=b" " * 5_000_000)) == "too_large_unpacked"


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "a.zip", "conversations.json", data=bytes(range(256)) * 40)
    whole = path.read_bytes()
    path.write_bytes(whole[:60] + b"\x00" * 20 + whole[80:])
    with pytest.raises(SourceError) as refused, open_source(path) as entries:
        list(json_items(entries[0].open()))
    assert refused.value.code in {"damaged", "not_json"}


def test_links_and_hidden_files_of_a_folder_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    folder = tmp_path / "vault"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "a.md").write_text("hidden")
    (folder / "linked.md").symlink_to(tmp_path / "secret.md")
    (folder / "elsewhere").symlink_to(tmp_path)
    (folder / "a.md").write_text("text")
    with open_source(folder) as entries:
        assert [entry.name for entry in entries] == ["a.md"]


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    assert code_of(tmp_path / "nothing.zip") == "unreadable"
