"""A git repository on this machine: what is listed, what has changed, and what stays readable."""

import shutil
from pathlib import Path

import pytest

from apps.core.domain.errors import NotFoundError
from apps.sync.domain.errors import CommitGoneError, KnowledgeUnavailableError
from apps.sync.repository.reader import open_reader
from tests.unit.sync.repository.repositories import Origin, files_at, source_of, text_of


def test_the_files_of_a_commit_are_listed_and_read(origin: Origin) -> None:
    commit = origin.commit({"adr/0001.md": "# One", "peps/8.rst": "PEP: 8", "src/a.py": "x", ".hidden/b.md": "no"})
    with open_reader(source_of(origin.path)) as reader:
        assert reader.head() == commit
        assert files_at(reader, commit) == {"adr/0001.md": "ok", "peps/8.rst": "ok"}
        assert text_of(reader, commit, "adr/0001.md") == "# One"
        assert reader.entries(commit, ["src/a.py", "none.md"]) == {"src/a.py": None, "none.md": None}


def test_folder_and_patterns_choose_files(origin: Origin) -> None:
    commit = origin.commit({"docs/a.md": "a", "docs/old/b.md": "b", "docs/c.adoc": "c", "d.md": "d"})
    source = source_of(origin.path, folder="docs", include=("**/*.md", "docs/*.adoc"), exclude=("**/old/**",))
    with open_reader(source) as reader:
        assert files_at(reader, reader.head()) == {"docs/a.md": "ok", "docs/c.adoc": "ok"}
        assert reader.entries(commit, ["d.md"]) == {"d.md": None}


def test_touched_are_the_paths_of_the_commits_between(origin: Origin) -> None:
    old = origin.commit({"a.md": "a", "b.md": "b", "c.md": "c", "deep/er/d.md": "d"})
    source = source_of(origin.path)
    with open_reader(source) as reader:
        assert reader.head() == old
    origin.commit({"a.md": "a2"})
    new = origin.commit({"b.md": None, "moved.md": "b", "deep/er/d.md": "d2", "deep/e.py": "no"})
    with open_reader(source) as reader:
        assert reader.head() == new
        touched = reader.touched(old, new)
        assert touched.commits == 2
        assert touched.paths == {"a.md", "b.md", "moved.md", "deep/er/d.md"}
        assert touched.entries["b.md"] is None
        assert text_of(reader, new, "moved.md") == "b"
        assert reader.read_at("a.md", old) == b"a"
        assert reader.touched(new, new).entries == {}


def test_a_rewritten_history_says_so_and_leaves_old_texts_readable(origin: Origin) -> None:
    first = origin.commit({"a.md": "a"})
    lost = origin.commit({"a.md": "lost"})
    source = source_of(origin.path)
    with open_reader(source) as reader:
        reader.head()
    origin.reset(first)
    new = origin.commit({"a.md": "other"})
    with open_reader(source) as reader:
        assert reader.head() == new
        with pytest.raises(CommitGoneError):
            reader.touched(lost, new)
        with pytest.raises(CommitGoneError):
            reader.touched("0" * 39 + "1", new)
        assert reader.read_at("a.md", lost) == b"lost"


def test_a_repository_that_vanishes_leaves_texts_readable(origin: Origin) -> None:
    commit = origin.commit({"a.md": "a"})
    source = source_of(origin.path)
    with open_reader(source) as reader:
        reader.head()
    shutil.rmtree(origin.path)
    with open_reader(source) as reader:
        assert reader.read_at("a.md", commit) == b"a"
        with pytest.raises(NotFoundError):
            reader.read_at("b.md", commit)
        with pytest.raises(KnowledgeUnavailableError, match="nothing to read"):
            reader.head()
        assert [entry.subject for entry in reader.log("a.md")] == ["a change"]


def test_the_log_of_a_file_names_no_people(origin: Origin) -> None:
    origin.commit({"a.md": "1"}, "first\n\nmore")
    origin.commit({"b.md": "1"}, "other")
    last = origin.commit({"a.md": "2"}, "second")
    with open_reader(source_of(origin.path)) as reader:
        reader.head()
        log = reader.log("a.md")
    assert [entry.subject for entry in log] == ["second", "first"]
    assert log[0].commit == last
    assert "Ana" not in str(log)


def test_a_branch_is_followed(origin: Origin) -> None:
    first = origin.commit({"a.md": "main"})
    origin.branch = "team/docs"
    origin.reset(first)
    other = origin.commit({"a.md": "branch"})
    with open_reader(source_of(origin.path, branch="team/docs")) as reader:
        assert reader.head() == other
    with open_reader(source_of(origin.path)) as reader:
        assert reader.head() == first
    for branch in ("gone", "a..b", "x\0y"):
        with open_reader(source_of(origin.path, branch=branch)) as reader, pytest.raises(KnowledgeUnavailableError):
            reader.head()


def test_another_location_makes_a_new_copy(origin: Origin, root: Path) -> None:
    first = origin.commit({"a.md": "a"})
    source = source_of(origin.path)
    with open_reader(source) as reader:
        reader.head()
    other = Origin(root / "other.git")
    commit = other.commit({"b.md": "b"})
    with open_reader(source_of(other.path).__class__(**{**vars(source), "location": str(other.path)})) as reader:
        assert reader.head() == commit
        with pytest.raises(NotFoundError):
            reader.read_at("a.md", first)
