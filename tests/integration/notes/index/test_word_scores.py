"""The scores of words that a process keeps in memory, beside those of FTS5, while notes change."""

import math
import random
from collections import Counter
from dataclasses import replace

import pytest

from apps.core.domain.scope import system_access
from apps.notes.domain.search import rarity_of
from apps.notes.index import postings
from apps.notes.index.disk import place_of
from apps.notes.index.handles import Indexes, index_of
from apps.notes.index.postings import Postings
from apps.notes.selectors import notes_search
from apps.notes.services import index_rebuild, index_refresh
from apps.retrieval.domain.text.asked import AskedTerms

pytestmark = pytest.mark.django_db
ACCESS = system_access("test")
WORDS = [
    "tea",
    "boat",
    "rice",
    "kite",
    "apple",
    "garden",
    "train",
    "clock",
    "茶杯",
    "C#",
    "1,000",
    "naïve",
    *"abcdefgh",
]
WEIGHTS = [1 / (place + 1) for place in range(len(WORDS))]


@pytest.fixture
def folder(notes_dir, settings):
    """The folder of ana's notes, which are searched by words only."""
    settings.MEMORYHUB = replace(settings.MEMORYHUB, notes_search="keyword")
    path = notes_dir / "users" / "ana"
    path.mkdir(parents=True)
    return path


def write_note(folder, chance, name):
    heading = f"# {' '.join(chance.choices(WORDS, WEIGHTS, k=2))}\n\n" if chance.random() < 0.5 else ""
    lines = [" ".join(chance.choices(WORDS, WEIGHTS, k=chance.randint(1, 60))) for _ in range(chance.randint(1, 5))]
    (folder / name).write_text(heading + "".join(f"- {line}\n" for line in lines), encoding="utf-8")


def by_engine(connection, words):
    """Return the scores of FTS5 itself by text, a word at a time, with our rarity in the place of its own."""
    number = connection.execute("SELECT count(*) FROM words").get
    scores = Counter()
    for word in words:
        found = list(connection.execute("SELECT rowid, rank FROM words WHERE words MATCH ?", (f'"{word}"',)))
        theirs = max(math.log((number - len(found) + 0.5) / (len(found) + 0.5)), 1e-6)
        scores.update({text: -rank / theirs * rarity_of(number, len(found)) for text, rank in found})
    return dict(scores)


def assert_same(words, *several):
    """Check that the scores of FTS5 are those of each of some postings."""
    with index_of(place_of("ana")).current() as connection, connection:
        expected = by_engine(connection, words)
        for each in several:
            found = each.scores(connection, AskedTerms(dict.fromkeys(words, 1.0)))
            assert found.top(10_000) == pytest.approx(expected, rel=1e-4)
            best = sorted(expected.values(), reverse=True)[:3]
            assert sorted(found.top(3).values(), reverse=True) == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_fts5_whatever_was_changed(folder, monkeypatch, seed):
    monkeypatch.setattr(postings, "MOST_RECENT", 30)
    monkeypatch.setattr(postings, "MOST_KEPT", 400)
    chance = random.Random(seed)
    lasting = Postings()
    for number in range(40):
        write_note(folder, chance, f"{number}.md")
    for turn in range(25):
        for _ in range(chance.choice((0, 1, 1, 2, 20))):
            name = f"{chance.randrange(50)}.md"
            if chance.random() < 0.3:
                (folder / name).unlink(missing_ok=True)
            else:
                write_note(folder, chance, name)
        if turn == 15:
            index_rebuild("ana")
        index_refresh("ana")
        words = ["tea", "boat", "rice", "kite", "appl", "茶杯", "c#", "1000", "b", "zebra"]
        assert_same(chance.sample(words, chance.randint(1, 5)), lasting, Postings())


def test_search_returns_the_order_of_fts5(folder):
    chance = random.Random(9)
    for number in range(200):
        write_note(folder, chance, f"{number}.md")
    for query, words in (("tea boat kite", ["tea", "boat", "kite"]), ("garden", ["garden"]), ("茶杯 a", ["茶杯"])):
        hits = notes_search(ACCESS, "ana", query, limit=20).hits
        with index_of(place_of("ana")).current() as connection:
            scores = sorted(by_engine(connection, words).values(), reverse=True)
        assert len(hits) == 20
        shares = [hit.score / hits[0].score for hit in hits]
        assert shares == pytest.approx([score / scores[0] for score in scores[:20]], rel=1e-3)


def test_only_the_indexes_used_last_stay_in_memory(folder, monkeypatch):
    monkeypatch.setattr("apps.notes.index.handles.MAX_IN_MEMORY", 1)
    write_note(folder, random.Random(1), "0.md")
    indexes = Indexes()
    index = indexes.get(place_of("ana"))
    with index.current() as connection:
        index.postings.scores(connection, AskedTerms({"tea": 1.0}))
    assert index.postings._made
    indexes.get(place_of("ben"))
    assert not index.postings._made


def test_word_that_no_note_has_does_not_make_the_others_worth_nothing(folder):
    """Spec 001, 搜尋記憶: in a store of two notes the one with a word of the question has a score."""
    (folder / "0.md").write_text("- green tea in the morning\n")
    (folder / "1.md").write_text("- tea at night\n")
    hits = notes_search(ACCESS, "ana", "zeppelin tea").hits
    assert len(hits) == 2
    assert all(hit.score > 0.05 for hit in hits)


def test_eighteen_items_are_hits_of_their_own(folder):
    """Spec 001, 搜尋記憶: a hit is one fact with its heading and its line."""
    items = "".join(f"- tea {number}\n" for number in range(18))
    (folder / "MEMORY.md").write_text(f"# Drinks\n\n{items}")
    (hit,) = notes_search(ACCESS, "ana", "tea 7", limit=1).hits
    assert (hit.text, hit.heading, hit.first_line, hit.last_line) == ("- tea 7", "Drinks", 10, 10)


def test_parts_of_chinese_words_order_hits_and_make_none(folder):
    (folder / "0.md").write_text("- 週末喝綠茶\n", encoding="utf-8")
    (folder / "1.md").write_text("- 週末睡覺\n", encoding="utf-8")
    assert [hit.path for hit in notes_search(ACCESS, "ana", "週末紅茶嗎？").hits] == ["0.md", "1.md"]
    assert not notes_search(ACCESS, "ana", "紅茶").hits


@pytest.mark.parametrize("query", ["什麼時候", "嗎", "的", "請問有沒有", "?"])
def test_question_of_nothing_but_asking_is_searched_for_as_it_is(folder, query):
    (folder / "0.md").write_text("- 問：請問有沒有茶嗎 什麼時候的\n", encoding="utf-8")
    assert len(notes_search(ACCESS, "ana", query).hits) == (query != "?")
