"""Repositories that are damaged or made to do harm: refused one by one or as a whole, with reasons."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pygit2
import pytest
from pytest_django import Settings

from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.domain.knowledge import RefusedFile
from apps.sync.repository.entries import FileEntry, FileUnreadableError
from apps.sync.repository.reader import open_reader
from tests.integration.sync.repository.repositories import FILE, TREE, Origin, files_at, source_of, text_of
from tests.timing import assert_quick

LINK, SUBMODULE = 0o120000, 0o160000


def limit(settings: Settings, **limits: int) -> None:
    """Set limits of reading."""
    settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=replace(settings.MEMORYHUB.sync, **limits))  # type: ignore[arg-type]


def why_unavailable(location: object, **values: object) -> str:
    """Return why a source cannot be read."""
    with open_reader(source_of(location, **values)) as reader, pytest.raises(KnowledgeUnavailableError) as caught:
        list(reader.list(reader.head()))
    return caught.value.detail


def loose(repository: pygit2.Repository, oid: pygit2.Oid) -> Path:
    """Return the file of an object."""
    return Path(repository.path) / "objects" / str(oid)[:2] / str(oid)[2:]


def test_names_that_climb_or_deceive_are_refused(origin: Origin) -> None:
    blob = origin.blob()
    inner = origin.tree([(FILE, b"good.md", blob)])
    names = [b"/etc/passwd.md", b"a\nb.md", b"a\\b.md", b"\xff.md", "a\u202edm.md".encode(), b"x" * 700 + b".md"]
    rows = [(FILE, name, blob) for name in names]
    rows += [(TREE, b"../up", inner), (TREE, b"..", inner), (TREE, b"", inner), (FILE, b"good.md", blob)]
    with open_reader(source_of(origin.path)) as reader:
        commit = origin.commit_tree(origin.tree(rows))
        assert reader.head() == commit
        files = list(reader.list(commit))
    refused = [file for file in files if isinstance(file, RefusedFile)]
    assert [file.path for file in files if isinstance(file, FileEntry)] == ["good.md"]
    assert sorted({file.code for file in refused}) == ["path_too_long", "path_unsafe"]
    assert len(refused) == len(names) + 3
    assert len({file.path for file in refused}) == len(refused)
    assert all(file.path.isprintable() and len(file.path) <= 600 for file in refused)


def test_links_and_submodules_are_not_followed(origin: Origin) -> None:
    target = origin.blob("/etc/passwd")
    tree = origin.tree(
        [(LINK, b"link.md", target), (SUBMODULE, b"module.md", pygit2.Oid(hex="1" * 40)), (FILE, b"a.md", target)]
    )
    commit = origin.commit_tree(tree)
    with open_reader(source_of(origin.path)) as reader:
        assert files_at(reader, reader.head()) == {"link.md": "symlink", "a.md": "ok"}
        assert isinstance(reader.entries(commit, ["link.md"])["link.md"], RefusedFile)


def test_names_that_differ_in_case_are_two_files(origin: Origin) -> None:
    commit = origin.commit({"A.md": "upper", "a.md": "lower"})
    with open_reader(source_of(origin.path)) as reader:
        assert files_at(reader, reader.head()) == {"A.md": "ok", "a.md": "ok"}
        assert text_of(reader, commit, "A.md") == "upper"


def test_a_file_that_is_too_large_is_not_copied(origin: Origin, settings: Settings) -> None:
    limit(settings, max_file_kb=10)
    commit = origin.commit({"large.md": os.urandom(30_000), "small.md": "x"})
    source = source_of(origin.path)
    with open_reader(source) as reader:
        assert files_at(reader, reader.head()) == {"large.md": "too_large", "small.md": "ok"}
    mirror = pygit2.Repository(str(Path(settings.SYNC_DIR) / f"{source.uuid}.git"))
    assert origin.files["large.md"][0] not in mirror
    limit(settings, max_file_kb=100)
    with open_reader(source) as reader:
        assert reader.head() == commit
        assert files_at(reader, commit)["large.md"] == "ok"


def test_too_many_files_are_refused_as_a_whole(origin: Origin, settings: Settings) -> None:
    limit(settings, max_files=10)
    origin.commit({f"{number}.md": "x" for number in range(11)})
    assert "more than 10 files" in why_unavailable(origin.path)


def test_too_many_files_in_the_past_do_no_harm(origin: Origin, settings: Settings) -> None:
    """What is left of them later is complete, though the commit before was not copied as a whole."""
    limit(settings, max_files=10)
    origin.commit({f"{number}.md": f"{number}" for number in range(30)})
    few = origin.commit({f"{number}.md": None for number in range(5, 30)})
    with open_reader(source_of(origin.path)) as reader:
        assert reader.head() == few
        assert [text_of(reader, few, f"{number}.md") for number in range(5)] == ["0", "1", "2", "3", "4"]


def test_a_tree_of_billions_of_paths_is_given_up(origin: Origin, settings: Settings) -> None:
    limit(settings, max_files=1_000)
    tree = origin.tree([(FILE, b"a.md", origin.blob())])
    for _ in range(12):
        tree = origin.tree([(TREE, b"%02d" % number, tree) for number in range(10)])
    origin.commit_tree(tree)
    assert "MEMORYHUB_SYNC_MAX_FILES" in why_unavailable(origin.path)
    assert_quick(lambda _: why_unavailable(origin.path), "", 2)


def test_deep_folders_are_refused(origin: Origin) -> None:
    tree = origin.tree([(FILE, b"a.md", origin.blob())])
    for _ in range(100):
        tree = origin.tree([(TREE, b"d" * 50, tree)])
    commit = origin.commit_tree(tree)
    with open_reader(source_of(origin.path)) as reader:
        assert set(files_at(reader, reader.head()).values()) == {"path_too_long"}
        assert len(list(reader.list(commit))) == 1


def test_too_much_and_too_slow_are_given_up(origin: Origin, settings: Settings) -> None:
    origin.commit({f"{number}.md": os.urandom(400_000) for number in range(3)})
    limit(settings, max_mb=1)
    assert "MEMORYHUB_SYNC_MAX_MB" in why_unavailable(origin.path)
    limit(settings, max_mb=100, fetch_seconds=0)
    assert "MEMORYHUB_SYNC_FETCH_SECONDS" in why_unavailable(origin.path)


@pytest.mark.parametrize("damage", ["missing", "garbage", "other content", "cut off"])
def test_a_bad_object_is_refused_alone_and_read_when_repaired(origin: Origin, damage: str) -> None:
    commit = origin.commit({"bad.md": "bad", "good.md": "good"})
    path = loose(origin.repository, origin.files["bad.md"][0])
    healthy = path.read_bytes()
    path.chmod(0o644)
    if damage == "missing":
        path.unlink()
    elif damage == "garbage":
        path.write_bytes(b"garbage")
    elif damage == "cut off":
        path.write_bytes(healthy[: len(healthy) // 2])
    else:
        path.write_bytes(loose(origin.repository, origin.files["good.md"][0]).read_bytes())
    source = source_of(origin.path)
    with open_reader(source) as reader:
        assert files_at(reader, reader.head()) == {"bad.md": "object_damaged", "good.md": "ok"}
        assert text_of(reader, commit, "good.md") == "good"
    path.unlink(missing_ok=True)
    path.write_bytes(healthy)
    with open_reader(source) as reader:
        assert files_at(reader, reader.head()) == {"bad.md": "ok", "good.md": "ok"}
        assert text_of(reader, commit, "bad.md") == "bad"


@pytest.mark.parametrize("part", ["commit", "tree", "parent"])
def test_history_that_was_cut_off_makes_the_source_unavailable(origin: Origin, part: str) -> None:
    """As by a loss of power. libgit2 would read such an object for ever."""
    parent = origin.commit({"a.md": "a"})
    commit = origin.commit({"b.md": "b"})
    oid = {"commit": commit, "parent": parent, "tree": origin.repository[commit].peel(pygit2.Tree).id}[part]
    path = loose(origin.repository, pygit2.Oid(hex=str(oid)))
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:10] if part == "parent" else path.read_bytes()[:-20])
    assert why_unavailable(origin.path)


def test_a_damaged_tree_makes_the_source_unavailable(origin: Origin) -> None:
    """Not its files one by one: they would seem to be gone."""
    origin.commit({"texts/a.md": "a", "b.md": "b"})
    tree = origin.repository.revparse_single("main:texts").id
    loose(origin.repository, tree).unlink()
    assert "missing or damaged" in why_unavailable(origin.path)


def test_an_object_of_another_kind_is_refused(origin: Origin) -> None:
    inner = origin.tree([(FILE, b"a.md", origin.blob())])
    origin.commit_tree(origin.tree([(FILE, b"tree.md", inner), (FILE, b"good.md", origin.blob())]))
    with open_reader(source_of(origin.path)) as reader:
        assert files_at(reader, reader.head()) == {"tree.md": "object_damaged", "good.md": "ok"}


def test_a_damaged_copy_is_made_again(origin: Origin, settings: Settings) -> None:
    commit = origin.commit({"a.md": "a"})
    source = source_of(origin.path)
    with open_reader(source) as reader:
        entry = next(iter(reader.list(reader.head())))
    assert isinstance(entry, FileEntry)
    copy = Path(settings.SYNC_DIR) / f"{source.uuid}.git"
    for pack in (copy / "objects" / "pack").glob("*.pack"):
        pack.chmod(0o644)
        pack.write_bytes(pack.read_bytes()[:12] + b"\0" * 200)
    with open_reader(source) as reader:
        with pytest.raises((KnowledgeUnavailableError, FileUnreadableError)):
            reader.read(entry)
        assert reader.head() == commit
        assert reader.read(entry) == b"a"
    for kind in ("objects", "HEAD"):
        shutil.rmtree(copy / kind) if (copy / kind).is_dir() else (copy / kind).unlink()
        with open_reader(source) as reader:
            assert reader.head() == commit
            assert reader.read(entry) == b"a"


def test_what_killed_processes_left_is_cleared(origin: Origin, settings: Settings) -> None:
    source = source_of(origin.path)
    folder = Path(settings.SYNC_DIR)
    first = origin.commit({"a.md": "a"})
    with open_reader(source) as reader:
        reader.head()
    copy = folder / f"{source.uuid}.git"
    (folder / f"{source.uuid}.git.new-abc").mkdir()
    (copy / "refs" / "memoryhub" / "head.lock").touch()
    (copy / "objects" / "pack" / "pack_git2_123").touch()
    second = origin.commit({"a.md": "b"})
    with open_reader(source) as reader:
        assert reader.head() == second
    # Killed between the two renames of a replacement.
    copy.rename(folder / f"{source.uuid}.git.old-abc")
    with open_reader(source) as reader:
        assert reader.head() == second
        assert reader.read_at("a.md", first) == b"a"
    assert sorted(path.name for path in folder.iterdir()) == [f"{source.uuid}.git", f"{source.uuid}.lock"]


def test_places_outside_of_the_roots_are_not_read(origin: Origin, root: Path, tmp_path: Path) -> None:
    outside = Origin(tmp_path / "outside.git")
    outside.commit({"secret.md": "secret"})
    assert "MEMORYHUB_SYNC_ROOTS" in why_unavailable(outside.path)
    (root / "link").symlink_to(outside.path)
    assert "MEMORYHUB_SYNC_ROOTS" in why_unavailable(root / "link")
    assert "MEMORYHUB_SYNC_ROOTS" in why_unavailable(f"{root}/../outside.git")
    (root / "file").mkdir()
    (root / "file" / ".git").write_text(f"gitdir: {outside.path}")
    assert "MEMORYHUB_SYNC_ROOTS" in why_unavailable(root / "file")
    origin.commit({"a.md": "a"})
    (origin.path / "objects" / "info").mkdir(exist_ok=True)
    (origin.path / "objects" / "info" / "alternates").write_text(f"{outside.path}/objects\n")
    assert "outside of MEMORYHUB_SYNC_ROOTS" in why_unavailable(origin.path)
    (origin.path / "objects" / "info" / "alternates").unlink()
    (origin.path / "objects" / "pack").rmdir()
    (origin.path / "objects" / "pack").symlink_to(outside.path / "objects" / "pack")
    assert "outside of MEMORYHUB_SYNC_ROOTS" in why_unavailable(origin.path)


@pytest.mark.parametrize("below", ["objects/ab", "objects/pack", "refs/heads"])
def test_links_of_single_objects_do_not_lead_out_of_the_roots(origin: Origin, tmp_path: Path, below: str) -> None:
    origin.commit({"a.md": "a"})
    outside = tmp_path / "outside"
    outside.write_text("x")
    (origin.path / below).mkdir(exist_ok=True)
    (origin.path / below / ("f" * 38)).symlink_to(outside)
    assert "outside of MEMORYHUB_SYNC_ROOTS" in why_unavailable(origin.path)


@pytest.mark.parametrize(
    "name",
    ["shallow", "commondir", "objects/info/alternates", "HEAD", "config", "refs/heads/x", "objects/ab/cd", ".git"],
)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_of_git_is_not_opened(origin: Origin, name: str, kind: str) -> None:
    """A pipe would hold the sync for ever, a device would fill its memory."""
    origin.commit({"a.md": "a"})
    path = origin.path / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    assert why_unavailable(origin.path)
    with open_reader(source_of(origin.path)) as reader, pytest.raises(KnowledgeUnavailableError):
        reader.head()


def test_a_cut_off_history_is_a_small_list_of_commits(origin: Origin) -> None:
    origin.commit({"a.md": "a"})
    (origin.path / "shallow").write_text("secret of a file\n")
    assert "shallow" in why_unavailable(origin.path)
    (origin.path / "shallow").unlink()
    (origin.path / "shallow").mkdir()
    assert "shallow" in why_unavailable(origin.path)


def test_the_data_directory_is_not_read_whatever_the_roots_are(root: Path, tmp_path: Path, settings: Settings) -> None:
    data = tmp_path / "data"
    settings.SYNC_DIR, settings.SYNC_SECRETS_DIR = data / "sync", data / "sync-secrets"
    settings.MEMORYHUB = replace(
        settings.MEMORYHUB, data_dir=data, sync=replace(settings.MEMORYHUB.sync, roots=(tmp_path,))
    )
    for name in ("sync-secrets/token.md", "notes/ana.md", "knowledge/adr/1.md"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text("x")
    (root / "2.md").write_text("x")
    own = Origin(data / "own.git")
    own.commit({"a.md": "a"})
    for location, kind in ((data, "folder"), (data / "sync-secrets", "folder"), (own.path, "git")):
        assert "data directory" in why_unavailable(location, kind=kind)
    assert why_unavailable(tmp_path, kind="folder", folder="data/notes")
    for location, found in ((data / "knowledge", {"adr/1.md": "ok"}), (tmp_path, {"knowledge/2.md": "ok"})):
        with open_reader(source_of(location, kind="folder")) as reader:
            assert files_at(reader, reader.head()) == found


def test_no_program_of_a_repository_is_run(root: Path, tmp_path: Path) -> None:
    """Hooks, filters, commands of the configuration: none of them leaves its mark."""
    made = pygit2.init_repository(str(root / "worktree"), initial_head="main")
    mark = tmp_path / "mark"
    command = f"touch {mark}"
    for name in ("core.fsmonitor", "core.sshCommand", "filter.evil.smudge", "filter.lfs.smudge", "core.pager"):
        made.config[name] = command
    made.config["uploadpack.packObjectsHook"] = command
    for hook in ("post-checkout", "pre-auto-gc", "reference-transaction"):
        path = root / "worktree" / ".git" / "hooks" / hook
        path.write_text(f"#!/bin/sh\n{command}\n")
        path.chmod(0o755)
    (root / "worktree" / ".gitattributes").write_text("* filter=evil\n")
    (root / "worktree" / "a.md").write_text("a")
    made.index.add_all()
    author = pygit2.Signature("A", "a@example.org")
    made.create_commit("refs/heads/main", author, author, "first", made.index.write_tree(), [])
    mark.unlink(missing_ok=True)
    with open_reader(source_of(root / "worktree")) as reader:
        assert files_at(reader, reader.head()) == {"a.md": "ok"}
    assert not mark.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
def test_a_repository_of_another_user_is_read(origin: Origin) -> None:
    origin.commit({"a.md": "a"})
    for folder, _, files in os.walk(origin.path):
        for path in (folder, *(os.path.join(folder, name) for name in files)):  # noqa: PTH118
            os.chown(path, 12_345, 12_345)
    with open_reader(source_of(origin.path)) as reader:
        assert files_at(reader, reader.head()) == {"a.md": "ok"}
