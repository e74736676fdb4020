"""Repositories of decision records to measure with, made with libgit2: the same in every run."""

import random
from collections.abc import Iterable, Mapping
from pathlib import Path

import pygit2

from apps.sync.domain.knowledge import ItemStatus, ItemType, KnowledgeItem, Layer
from apps.sync.domain.state import StoredItem
from benchmarks.texts import sentence

RECORDS_IN_FOLDER = 100
PERSON = pygit2.Signature("Bench", "bench@example.org", 1_700_000_000, 0)
BRANCH = "refs/heads/main"


def record_path(number: int) -> str:
    """Return where a decision record is, a hundred in each folder."""
    return f"adr/{number // RECORDS_IN_FOLDER:03}/{number:05}.md"


def record_id(number: int) -> str:
    """Return the id of a decision record."""
    return f"ADR-{number:05}"


def record_text(number: int, version: int = 0) -> str:
    """Return a decision record of about 1,500 characters. Every third has a rule; every tenth supersedes another."""
    chance = random.Random(number * 1_000 + version)  # noqa: S311
    title = sentence(chance).rstrip(".")
    supersedes = f"supersedes: [{record_id(number - 1)}]\n" if number % 10 == 9 else ""
    head = (
        f"id: {record_id(number)}\ntitle: {title}\nstatus: accepted\ntags: [{chance.choice(('a', 'b'))}]\n{supersedes}"
    )
    parts = {name: " ".join(sentence(chance) for _ in range(6)) for name in ("Context", "Decision", "Consequences")}
    rule = f"- MUST: {sentence(chance)}\n" if number % 3 == 0 else ""
    body = "\n\n".join(f"## {name}\n\n{text}" for name, text in parts.items())
    return f"---\n{head}---\n\n# {title}\n\n{body}\n\n## Constraints\n\n{rule or '- none'}\n"


class RecordRepository:
    """A bare repository of decision records at a path."""

    def __init__(self, path: Path, count: int) -> None:
        self.path, self.count, self.version = path, count, 0
        self.repository = pygit2.init_repository(str(path), bare=True, initial_head="main")
        self.index = pygit2.Index()
        self.commit({record_path(number): record_text(number) for number in range(count)})

    def commit(self, files: Mapping[str, str | None]) -> None:
        """Add a commit in which some files have another text; None removes one."""
        for path, text in files.items():
            if text is None:
                self.index.remove(path)
            else:
                blob = self.repository.create_blob(text.encode())
                self.index.add(pygit2.IndexEntry(path, blob, pygit2.enums.FileMode.BLOB))
        parents = [self.repository.references[BRANCH].target] if BRANCH in self.repository.references else []
        tree = self.index.write_tree(self.repository)
        self.repository.create_commit(BRANCH, PERSON, PERSON, "A change", tree, parents)

    def change(self, numbers: Iterable[int]) -> None:
        """Add a commit that changes some records."""
        self.version += 1
        self.commit({record_path(number): record_text(number, self.version) for number in numbers})

    def work(self, commits: int) -> None:
        """Add commits as people make them: each changes two records and adds one, and every fifth removes one."""
        for _ in range(commits):
            self.version += 1
            chance = random.Random(self.version)  # noqa: S311
            changed = chance.sample(range(self.count // 2), 2)
            files: dict[str, str | None] = {record_path(one): record_text(one, self.version) for one in changed}
            files[record_path(self.count)] = record_text(self.count)
            if self.version % 5 == 0:
                files[record_path(self.count - 1)] = None
            self.count += 1
            self.commit(files)


def synthetic_items(count: int) -> tuple[dict[str, StoredItem], dict[str, KnowledgeItem]]:
    """Return what is stored of items, and the items: of each hundred one is new, one changed and one gone."""
    stored, items = {}, {}
    for number in range(count):
        item_id, digest = record_id(number), f"{number:064x}"
        if number % 100 != 0:
            stored[item_id] = StoredItem(item_id, digest, ItemStatus.ACCEPTED, Layer.TEAM, None)
        if number % 100 != 1:
            changed = f"{number + count:064x}" if number % 100 == 2 else digest
            items[item_id] = KnowledgeItem(
                item_id=item_id,
                path=record_path(number),
                type=ItemType.ADR,
                title=item_id,
                summary="",
                status=ItemStatus.ACCEPTED,
                layer=Layer.TEAM,
                hash=changed,
            )
    return stored, items
