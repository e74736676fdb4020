"""A git repository on this machine: what is listed, what has changed, and what stays readable."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pygit2
import pytest
from pytest_django import Settings

from apps.core.domain.errors import NotFoundError
from apps.sync.domain.errors import CommitGoneError, KnowledgeUnavailableError
from apps.sync.repository import mirror
from apps.sync.repository.reader import open_reader
from apps.sync.repository.trees import EMPTY_TREE, Row, Trees
from tests.integration.sync.repository.repositories import Origin, files_at, source_of, text_of


def test_the_files_of_a_commit_are_listed_and_read(origin: Origin) -> None:
    commit = origin.commit({"adr/0001.md": "# One", "peps/8.rst": "PEP: 8", "src/a.py": "x", ".hidden/b.md": "no"})
    with open_reader(source_of(origin.path)) as reader:
        assert reader.head() == commit
        assert files_at(reader, commit) == {"adr/0001.md": "ok", "peps/8.rst": "ok"}
        assert text_of(reader, commit, "adr/0001.md") == "# One"
        assert reader.entries(commit, ["src/a.py", "none.md"]) == {"src/a.py": None, "none.md": None}


def test_folder_and_patterns_choose_files(origin: Origin) -> None:
    commit = origin.commit({"texts/a.md": "a", "texts/old/b.md": "b", "texts/c.adoc": "c", "d.md": "d"})
    source = source_of(origin.path, folder="texts", include=("**/*.md", "texts/*.adoc"), exclude=("**/old/**",))
    with open_reader(source) as reader:
        assert files_at(reader, reader.head()) == {"texts/a.md": "ok", "texts/c.adoc": "ok"}
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


def test_after_the_last_file_was_deleted_there_is_none(origin: Origin) -> None:
    """git does not store the tree of such a commit."""
    first = origin.commit({"a.md": "a"})
    with open_reader(source_of(origin.path)) as reader:
        assert reader.head() == first
        empty = origin.commit_tree(pygit2.Oid(raw=EMPTY_TREE))
        assert empty == reader.head()
        assert files_at(reader, empty) == {}
        assert reader.touched(first, empty).entries == {"a.md": None}
        assert origin.commit({"a.md": None, "b.md": "b"}) == reader.head()
        assert reader.touched(empty, reader.head()).paths == {"b.md"}


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


def test_a_repository_with_a_working_tree_and_a_short_history(root: Path) -> None:
    """Such as a clone with --depth 1: what was committed is read, and not what is only in the working tree."""
    origin = Origin(root / "work" / ".git")
    first = origin.commit({"a.md": "a"})
    second = origin.commit({"a.md": "b"})
    (root / "work" / ".git" / "shallow").write_text(f"{second}\n")
    commit = Path(root / "work" / ".git" / "objects" / first[:2] / first[2:])
    commit.unlink()
    (root / "work" / "b.md").write_text("not committed")
    with open_reader(source_of(root / "work")) as reader:
        assert reader.head() == second
        assert files_at(reader, second) == {"a.md": "ok"}
        assert len(reader.log("a.md")) == 1
        third = origin.commit({"c.md": "c"})
        assert reader.head() == third
        assert reader.touched(second, third).paths == {"c.md"}


def test_readers_in_several_threads_share_one_copy(origin: Origin, settings: Settings) -> None:
    commit = origin.commit({f"{number}.md": "x" for number in range(50)})
    source = source_of(origin.path)

    def fetch(_: int) -> str:
        with open_reader(source) as reader:
            return reader.head()

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(fetch, range(8))) == {commit}
    assert len(list(Path(settings.SYNC_DIR).glob("*/objects/pack/*.pack"))) == 1


def test_many_packs_become_one(origin: Origin, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "MAX_PACKS", 5)
    source = source_of(origin.path)
    commits = []
    with open_reader(source) as reader:
        for number in range(8):
            origin.commit({"a.md": f"{number}"})
            commits.append(reader.head())
        packs = len(list(Path(settings.SYNC_DIR).glob("*/objects/pack/*.pack")))
        assert packs <= 5
        assert [reader.read_at("a.md", commit) for commit in commits] == [b"%d" % number for number in range(8)]
    assert not list(Path(settings.SYNC_DIR).glob("*/objects/join-*"))


def test_only_the_last_rewritten_histories_are_kept(origin: Origin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "MAX_SYNCED", 2)
    base = origin.commit({"a.md": "a"})
    source = source_of(origin.path)
    with open_reader(source) as reader:
        for number in range(5):
            origin.reset(base)
            origin.commit({"a.md": f"{number}"})
            reader.head()
        references = [name for name in reader.repository.references if name.startswith(mirror.SYNCED)]  # type: ignore[attr-defined]
    assert sorted(references) == ["refs/synced/3", "refs/synced/4"]


def test_the_log_follows_a_file_through_folders_and_reads_only_what_differs(
    origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin.commit({"b.md": "x"}, "before it")
    origin.commit({"texts/adr/1.md": "one"}, "made")
    for number in range(20):
        origin.commit({f"others/{number}.md": f"{number}"}, "elsewhere")
    origin.commit({"texts/adr/1.md": None, "texts/2.md": "x"}, "removed")
    origin.commit({"texts/adr/1.md": "two"}, "made again")
    read = list[bytes]()
    parse = Trees._parse

    def noted(trees: Trees, oid: pygit2.Oid) -> dict[bytes, Row]:
        read.append(oid.raw)
        return parse(trees, oid)

    monkeypatch.setattr(Trees, "_parse", noted)
    with open_reader(source_of(origin.path)) as reader:
        reader.head()
        read.clear()
        assert [one.subject for one in reader.log("texts/adr/1.md")] == ["made again", "removed", "made"]
        assert reader.log("texts/3.md") == ()
        # The root of each commit, twice, and a few folders.
        assert len(read) < 2 * 24 + 12
        monkeypatch.setattr("apps.sync.repository.git.LOG_SECONDS", -1.0)
        assert reader.log("texts/adr/1.md") == ()
