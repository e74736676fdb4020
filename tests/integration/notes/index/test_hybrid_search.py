"""Vectors beside words (spec 001, vector search): their scores, what is missing, and searching without them."""

from dataclasses import replace

import numpy as np
import pytest

from apps.core.domain.scope import system_access
from apps.llm.domain.embedder import EmbeddingSpaceId, EmbeddingUnavailableError
from apps.llm.embedding import reading
from apps.llm.embedding.embedder import embed_texts
from apps.llm.services import get_embedder
from apps.notes.index import handles, search, vectors
from apps.notes.index.disk import place_of
from apps.notes.index.handles import index_of
from apps.notes.index.vectors import fill_vectors
from apps.notes.selectors import index_status, notes_search
from apps.notes.services import index_refresh

pytestmark = pytest.mark.django_db
ACCESS = system_access("test")


@pytest.fixture
def ana(notes_dir):
    """The folder of ana's notes."""
    folder = notes_dir / "users" / "ana"
    (folder / "daily").mkdir(parents=True)
    return folder


@pytest.fixture(autouse=True)
def fresh_extension():
    """Try to load the extension anew in each test."""
    vectors.reset_extension()
    yield
    vectors.reset_extension()


def find(query, limit=10):
    return notes_search(ACCESS, "ana", query, limit=limit)


def write(folder, count, words="tea rice boat garden"):
    kinds = words.split()
    for number in range(count):
        (folder / f"{number}.md").write_text(f"- {kinds[number % len(kinds)]} number {number} of the list\n")


def test_hybrid_search_adds_the_scores_of_vectors_and_words(ana):
    """Spec 001, 混合搜尋: 0.7 x vector + 0.3 x BM25 where vectors have been made."""
    write(ana, 12)
    (ana / "MEMORY.md").write_text("## Drinks\n\n- green tea in the morning\n")
    found = find("tea in the morning", limit=13)
    assert (found.mode, found.reason, found.vectors_missing) == ("hybrid", "", 0)
    query = embed_texts(["tea in the morning"])[0]
    for hit in found.hits:
        cosine = float(embed_texts([f"{hit.heading}\n{hit.text}" if hit.heading else hit.text])[0] @ query)
        assert hit.vector_score == pytest.approx(max(cosine, 0), abs=0.005)
        assert hit.score == pytest.approx(0.7 * hit.vector_score + 0.3 * hit.bm25_score, abs=1e-6)
        assert 0 <= hit.bm25_score <= 1
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    assert found.hits[0].path == "MEMORY.md"


def test_signs_find_the_same_as_all_numbers(ana, monkeypatch):
    write(ana, 300)
    index_refresh("ana")
    while fill_vectors(index_of(place_of("ana")).database, 100):
        pass
    exact = find("rice number 77 of the list", limit=5)
    monkeypatch.setattr(handles, "EXACT_ROWS", 0)
    by_signs = find("rice number 77 of the list", limit=5)
    assert exact.hits[0] == by_signs.hits[0]
    assert exact.hits[0].path == "77.md"
    assert len({hit.path for hit in exact.hits} & {hit.path for hit in by_signs.hits}) >= 3


def test_many_texts_with_a_word_have_the_scores_that_they_have_alone(ana, monkeypatch):
    write(ana, 120, "tea")
    index_refresh("ana")
    while fill_vectors(index_of(place_of("ana")).database, 100):
        pass
    everything = {hit.path: hit for hit in find("tea number 5", limit=120).hits}
    monkeypatch.setattr(search, "MIN_CANDIDATES", 3)
    monkeypatch.setattr(search, "CANDIDATES_PER_HIT", 1)
    for hit in find("tea number 5", limit=3).hits:
        assert hit == everything[hit.path]


@pytest.mark.parametrize("way", ["extension", "setting"])
def test_fallback_when_sqlite_vec_is_not_available(ana, monkeypatch, settings, way):
    """Spec 001, sqlite-vec 不可用時 fallback: pure FTS5 with BM25, and the status says why."""
    write(ana, 8)
    assert find("tea").mode == "hybrid"
    if way == "extension":
        import sqlite_vec

        monkeypatch.setattr(sqlite_vec, "loadable_path", lambda: "/nonexistent/vec0")
        vectors.reset_extension()
    else:
        settings.MEMORYHUB = replace(settings.MEMORYHUB, notes_search="keyword")
    from apps.notes.index.handles import indexes_close

    indexes_close()
    found = find("tea")
    assert found.mode == "keyword"
    assert ("sqlite-vec" if way == "extension" else "MEMORYHUB_NOTES_SEARCH") in found.reason
    assert {hit.path for hit in found.hits} == {"0.md", "4.md"}
    assert all(hit.vector_score is None and hit.score == hit.bm25_score for hit in found.hits)
    status = index_status(ACCESS, "ana")
    assert (status.mode, status.reason) == ("keyword", found.reason)
    (ana / "0.md").write_text("- changed\n")
    assert {hit.path for hit in find("tea").hits} == {"4.md"}


def test_fallback_when_the_embedder_does_not_answer(ana, monkeypatch):
    write(ana, 8)
    assert find("tea").mode == "hybrid"
    calls = []

    def fail(texts, role):
        calls.append(texts)
        raise EmbeddingUnavailableError("no answer", retryable=True)

    monkeypatch.setattr(vectors, "embed_texts", fail)
    for _ in range(3):
        found = find("tea")
        assert (found.mode, {hit.path for hit in found.hits}) == ("keyword", {"0.md", "4.md"})
        assert "embedder" in found.reason
    assert len(calls) == 1, "the embedder has a pause"


def test_missing_vectors_are_counted_and_texts_without_one_are_found_by_words(ana, monkeypatch):
    monkeypatch.setattr(search, "FILLED_BY_SEARCH", 4)
    write(ana, 12)
    found = find("boat", limit=50)
    assert found.vectors_missing == 8
    without = [hit for hit in found.hits if hit.vector_score is None]
    assert without
    assert all(hit.score == hit.bm25_score > 0 for hit in without)
    assert [find("boat").vectors_missing for _ in range(3)] == [4, 0, 0]
    assert index_status(ACCESS, "ana").vectors_missing == 0


def test_unchanged_and_moved_texts_keep_their_vectors(ana, monkeypatch):
    write(ana, 6)
    find("tea")
    embedded = []
    monkeypatch.setattr(vectors, "embed_texts", lambda texts, role: embedded.extend(texts) or embed_texts(texts, role))
    (ana / "1.md").rename(ana / "daily" / "moved.md")
    (ana / "0.md").write_text("\n\n" + (ana / "0.md").read_text())
    (ana / "2.md").write_text("- something new\n")
    find("corn")
    assert embedded == ["- something new", "corn"]
    with index_of(place_of("ana")).database.connection() as connection:
        for table in ("vectors", "signs", "texts"):
            assert connection.execute(f"SELECT count(*) FROM {table}").get == 6
        assert vectors.vectors_made(connection) == 6


def test_vectors_of_another_space_are_not_mixed(ana, monkeypatch):
    write(ana, 6)
    assert find("tea").mode == "hybrid"

    class Other:
        space = EmbeddingSpaceId("other", 16)

    monkeypatch.setattr(vectors, "get_embedder", lambda: Other)
    monkeypatch.setattr(vectors, "embed_texts", lambda texts, role: np.eye(16, dtype=np.float32)[: len(texts)])
    found = find("tea")
    assert (found.mode, found.vectors_missing) == ("hybrid", 0)
    with index_of(place_of("ana")).database.connection() as connection:
        assert {len(vector) for (vector,) in connection.execute("SELECT vector FROM vectors")} == {16}
    monkeypatch.setattr(vectors, "get_embedder", get_embedder)
    monkeypatch.setattr(vectors, "embed_texts", embed_texts)
    assert find("tea").hits[0].vector_score > 0


@pytest.mark.parametrize("exact", [4_000, 0], ids=["numbers", "signs"])
def test_vector_of_zeros_is_compared_with_nothing(ana, monkeypatch, exact):
    """It has no cosine: the text is found by its words, and so is everything for a question with one."""
    write(ana, 6, "tea")
    monkeypatch.setattr(handles, "EXACT_ROWS", exact)
    monkeypatch.setattr(
        vectors, "embed_texts", lambda texts, role: embed_texts(texts, role) * np.arange(len(texts))[:, None]
    )
    with_one = find("tea number 2")
    assert len(with_one.hits) == 6
    assert {hit.vector_score for hit in with_one.hits} == {None}


def test_vectors_of_a_wrong_dimension_are_no_damage(ana, monkeypatch):
    """The search is by words then, and the index keeps the vectors that it has."""
    write(ana, 6, "tea")
    assert find("tea").mode == "hybrid"
    monkeypatch.setattr(vectors, "embed_texts", lambda texts, role: embed_texts(texts, role)[:, :7])
    wrong = find("tea")
    assert (wrong.mode, len(wrong.hits)) == ("keyword", 6)
    with index_of(place_of("ana")).database.connection() as connection:
        assert vectors.vectors_made(connection) == 6


@pytest.mark.parametrize("limit", [5, 12, 50])
def test_what_is_dropped_takes_no_place_of_what_is_found(ana, monkeypatch, limit):
    """Spec 001, 搜尋記憶: a limit is reached where enough answers the question, whatever else is there."""
    for number in range(60):
        (ana / f"noise{number}.md").write_text(f"- nothing of the kind, number {number}\n")
    for number in range(12):
        (ana / f"tea{number}.md").write_text(f"- tea{' and so on' * 30} {number}\n")
    question = np.eye(1, 384, dtype=np.float32)[0]
    far = np.full(384, 0.05, np.float32) * (np.arange(384) > 0)
    near = far + 0.2 * question

    def embed(texts, role):
        return np.array([question if text == "tea" else near if "nothing" in text else far for text in texts])

    monkeypatch.setattr(vectors, "embed_texts", embed)
    monkeypatch.setattr(search, "FILLED_BY_SEARCH", 100)
    found = find("tea", limit=limit)
    assert found.mode == "hybrid"
    assert len(found.hits) == min(limit, 12)
    assert all("tea" in hit.text for hit in found.hits)


@pytest.fixture
def english_embedder(monkeypatch):
    """An embedder that knows ASCII alone; for other texts it has one and the same vector."""
    alike = np.full(384, 384**-0.5, np.float32)

    def embed(texts, role):
        return np.array(
            [each if text.isascii() else alike for text, each in zip(texts, embed_texts(texts), strict=True)]
        )

    monkeypatch.setattr(vectors, "embed_texts", embed)
    monkeypatch.setattr(reading, "known_share", lambda text: sum(map(str.isascii, text)) / max(len(text), 1))


def test_what_the_embedder_cannot_read_is_scored_by_its_words(ana, english_embedder):
    """Spec 001, 混合搜尋: a vector that is alike for every text has no part in the score."""
    for number, text in enumerate(("我們家的貓喜歡睡在窗邊", "週末要買貓砂", "- drinks tea 🍵🍵🍵🍵🍵🍵")):
        (ana / f"{number}.md").write_text(text, encoding="utf-8")
    chinese = find("貓砂")
    assert (chinese.mode, chinese.reason) == ("keyword", search.UNREADABLE)
    assert [hit.text for hit in chinese.hits] == ["週末要買貓砂"]
    assert chinese.hits[0].score == chinese.hits[0].bm25_score
    english = find("tea 🍵")
    assert (english.mode, english.vectors_missing) == ("hybrid", 0)
    assert [(hit.text, hit.vector_score is None) for hit in english.hits] == [("- drinks tea 🍵🍵🍵🍵🍵🍵", False)]
