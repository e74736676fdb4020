"""Which rows speak of one matter, and the order in which the newer of them come first."""

from datetime import UTC, datetime
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.core.domain.scope import Scope
from apps.retrieval.domain.lexemes import document_lexemes
from apps.retrieval.domain.matters import MAX_NOTES, Asked, put_newer_first, read_query
from apps.retrieval.domain.query import Hit, Kinship, Pair, Precedence, Ranking, SearchMode, SearchQuery
from apps.retrieval.domain.ranking import rank, rank_by_score, terms_of
from apps.retrieval.domain.rows import IndexRow, RowStore
from apps.retrieval.domain.sessions import SESSION_KEY
from apps.retrieval.domain.substance import question_share
from apps.retrieval.domain.text.terms import term_hash
from tests.effort import examples

NOW = datetime(2026, 3, 1, tzinfo=UTC)
QUERY = np.array([1, 0, 0, 0], dtype=np.float32)


def towards(cosine: float, side: int = 1) -> np.ndarray:
    """A unit vector at this cosine to the query; those of one side are near each other."""
    vector = np.zeros(4, dtype=np.float32)
    vector[0], vector[side] = cosine, np.sqrt(1 - cosine**2)
    return vector


def short_hash(term: str) -> int:
    return term_hash(term) & 0xFFFFFFFF


def row(number: int, text: str, vector: np.ndarray | None = None, *, at: float | None = None, **coded: str) -> IndexRow:
    columns = tuple(coded.get(name, "") for name in SESSION_KEY)
    encoded = (towards(0.8) if vector is None else vector).astype(np.float32).tobytes()
    happened = float(number if at is None else at)
    return IndexRow(
        number, True, columns, happened, 0.0, 1.0, question_share(text), 1.0, document_lexemes(text), encoded
    )


def filled(*rows: IndexRow) -> RowStore:
    store = RowStore(4)
    store.apply(rows)
    return store


def search(query: str | None, *stores: RowStore, by_score: bool = False, **fields: object) -> Ranking:
    asked = SearchQuery(query=query, **{"current_first": True, **fields})  # type: ignore[arg-type]
    ranked = rank_by_score if by_score else rank
    return ranked(asked, Scope("ana"), QUERY, terms_of(asked), stores, NOW, {})


def ids(ranking: Ranking) -> list[int]:
    return [hit.id for hit in ranking.hits]


OLD = row(1, "Ana lives in Lisbon.", towards(0.9))
NEW = row(2, "Ana has moved to Porto.", towards(0.8))


def test_newer_statement_about_one_matter_comes_first() -> None:
    store = filled(OLD, NEW)
    assert ids(search("Where does Ana live?", store, current_first=False)) == [1, 2]
    assert ids(search("Where does Ana live?", store)) == [2, 1]


def test_search_that_does_not_ask_for_it_ranks_by_score() -> None:
    assert ids(search("Where does Ana live?", filled(OLD, NEW), current_first=None)) == [1, 2]


def test_hit_says_before_which_one_it_was_put_and_its_score_stays() -> None:
    scored = {hit.id: hit.score for hit in search("Where does Ana live?", filled(OLD, NEW), current_first=False).hits}
    [first, second] = search("Where does Ana live?", filled(OLD, NEW)).hits
    assert first.precedence == Precedence(older=1, by=Kinship.MATTER, place=2)
    assert second.precedence is None
    assert {hit.id: hit.score for hit in (first, second)} == scored


def test_newer_one_comes_first_even_when_only_one_is_asked_for() -> None:
    assert ids(search("Where does Ana live?", filled(OLD, NEW), top_k=1)) == [2]
    assert ids(search(None, filled(OLD, NEW), top_k=1)) == [2]


def test_when_it_happened_counts_and_not_when_it_was_saved() -> None:
    store = filled(OLD._replace(happened=9.0), NEW)
    assert ids(search("Where does Ana live?", store)) == [1, 2]


@pytest.mark.parametrize("mode", list(SearchMode))
def test_order_holds_in_every_mode(mode: SearchMode) -> None:
    store = filled(row(1, "The fork costs 4 euros", towards(0.9)), row(2, "The fork costs 5 euros", towards(0.8)))
    assert ids(search("What does the fork cost?", store, mode=mode)) == [2, 1]


@pytest.mark.parametrize(
    ("query", "older", "newer"),
    [
        ("Where do we stay in Ljubljana?", "In Ljubljana we stay at the Emonec.", "In Maribor we stay at the Orel."),
        ("When did release 3.0 ship?", "Release 3.0 shipped in May.", "Release 3.1 shipped in June."),
        ("What does my niece study?", "My niece studies medicine.", "My nephew studies law."),
    ],
)
def test_statement_about_another_thing_than_query_names_is_no_newer_one(query: str, older: str, newer: str) -> None:
    store = filled(row(1, older, towards(0.9)), row(2, newer, towards(0.6)))
    assert ids(search(query, store)) == [1, 2]


@pytest.mark.parametrize("mode", list(SearchMode))
def test_what_query_names_is_asked_for_in_every_mode(mode: SearchMode) -> None:
    store = filled(row(1, "A pear number 3", towards(0.99)), row(2, "A pear number 9", towards(0.98)))
    assert ids(search("a pear number 3", store, mode=mode))[0] == 1


def test_newer_one_that_has_nothing_to_do_with_query_is_not_lifted() -> None:
    others = [row(10 + n, f"Gadget{n} item{n} thing{n}", towards(0.9 - n / 50, 2), at=50.0 - n) for n in range(4)]
    between = [row(20 + n, f"Parcel{n} label{n} stamp{n}", towards(0.7 - n / 50, 3), at=30.0 - n) for n in range(9)]
    older = row(1, "Ben waters the balcony ferns on Monday", towards(0.8), at=1.0)
    newer = row(2, "Ben waters the balcony ferns on Friday", towards(0.45), at=99.0)
    store = filled(*others, older, *between, newer)
    query = "Which doctor treats Mia?"
    by_score = ids(search(query, store, current_first=False, top_k=15))
    assert (by_score.index(1), by_score.index(2)) == (4, 14)
    assert ids(search(query, store, top_k=15)) == by_score


def test_question_is_no_newer_statement() -> None:
    store = filled(row(1, "The library is open until ten.", towards(0.9)), row(2, "Is the library open until ten?"))
    assert ids(search("Until when is the library open?", store)) == [1, 2]


def test_statement_with_other_words_is_of_another_matter_however_near_its_vector() -> None:
    store = filled(row(1, "The fork costs 4 euros", towards(0.9)), row(2, "Rivers flow downhill", towards(0.8)))
    assert ids(search(None, store)) == [1, 2]


def test_statement_with_same_words_far_from_other_is_of_another_matter() -> None:
    store = filled(row(1, "The old fork costs 4 euros", towards(0.7)), row(2, "A fork of two roads", towards(0.5, 2)))
    assert ids(search("fork", store)) == [1, 2]


def test_long_texts_are_of_one_matter_only_if_newer_one_repeats_most_of_it() -> None:
    long = (
        "the fork and the knife and spoon and the plate, glass, cup, bowl, pan, kettle, oven, sieve, tray and the lamp"
    )
    near = towards(0.9), towards(0.5)
    brief = filled(row(1, long, near[0]), row(2, "The fork, the knife, the spoon, the plate", near[1]))
    assert ids(search(None, brief)) == [1, 2]
    full = filled(row(1, long, near[0]), row(2, long + " now", near[1]))
    assert ids(search(None, full)) == [2, 1]


def test_turns_of_conversation_are_near_without_replacing_each_other() -> None:
    def told(count: int) -> RowStore:
        others = (row(n, f"word{n}", towards(0.1, 3), session_id="s") for n in range(3, count + 1))
        return filled(OLD._replace(coded=("", "", "s")), NEW._replace(coded=("", "", "s")), *others)

    assert ids(search("Where does Ana live?", told(MAX_NOTES)))[:2] == [2, 1]
    assert ids(search("Where does Ana live?", told(MAX_NOTES + 1)))[:2] == [1, 2]


def test_memories_of_other_scopes_or_users_are_never_of_one_matter() -> None:
    other = NEW._replace(coded=("", "nurse", ""))
    assert ids(search("Where does Ana live?", filled(OLD, other))) == [1, 2]
    assert ids(search("Where does Ana live?", filled(OLD), filled(NEW))) == [1, 2]


def test_every_store_is_searched_for_its_own_pairs() -> None:
    stores = [filled(OLD, NEW), filled(*(one._replace(id=one.id + 10) for one in (OLD, NEW)))]
    pairs = {(pair.newer, pair.older) for pair in search("Where does Ana live?", *stores).pairs}
    assert pairs == {(2, 1), (12, 11)}


def test_texts_without_spaces_are_compared_by_their_characters_whatever_their_vectors_say() -> None:
    alike = towards(0.9)
    same = filled(row(1, "我的主管是林協理。", alike), row(2, "我的主管是吳經理。", towards(0.85)))
    assert ids(search("我的主管是誰?", same, mode=SearchMode.VECTOR)) == [2, 1]
    unlike = filled(row(1, "我的主管是林協理。", alike), row(2, "貓睡在窗邊。", towards(0.85)))
    assert ids(search("我的主管是誰?", unlike, mode=SearchMode.VECTOR)) == [1, 2]


@pytest.mark.parametrize(
    ("text", "names", "things"),
    [
        ("Who handles sales in Austria?", ["austria"], ["sale"]),
        ("what did release 3.0 cost in March", ["3.0", "march"], ["releas"]),
        ("Where do I live?", [], []),
        ("WHO WORKS AT LIDL?", [], ["lidl"]),
        ("", [], []),
    ],
)
def test_query_is_read_as_names_things_and_relations(text: str, names: list[str], things: list[str]) -> None:
    terms = terms_of(SearchQuery(query=text, mode=SearchMode.HYBRID)).all
    asked = read_query(text)
    assert [term for term in terms if short_hash(term) in asked.names] == names
    assert [term for term in terms if short_hash(term) in asked.things] == things


def test_query_without_text_names_nothing() -> None:
    assert read_query("") == Asked(frozenset(), frozenset())


# The order, whatever made the pairs.


def hits_of(moments: list[float]) -> list[Hit]:
    """Hits in the order of their scores, numbered from 0."""
    return [Hit(n, 1.0 - n / 100, None, None, 1.0, 1.0, happened=at) for n, at in enumerate(moments)]


def newer_pairs(moments: list[float], chosen: list[tuple[int, int]]) -> list[Pair]:
    ordered = (sorted(pair, key=lambda n: (moments[n], n)) for pair in chosen if pair[0] != pair[1])
    return [Pair(newer, older) for older, newer in ordered]


moments_and_pairs = st.lists(st.integers(0, 5).map(float), min_size=2, max_size=8).flatmap(
    lambda moments: st.tuples(
        st.just(moments),
        st.lists(st.tuples(*[st.integers(0, len(moments) - 1)] * 2), max_size=8).map(
            lambda chosen: newer_pairs(moments, chosen)
        ),
    )
)


@settings(max_examples=examples(200), deadline=None)
@given(moments_and_pairs)
def test_order_puts_every_newer_one_first_and_only_reorders(case: tuple[list[float], list[Pair]]) -> None:
    moments, pairs = case
    hits = hits_of(moments)
    found = [hit.id for hit in put_newer_first(hits, pairs)]
    assert sorted(found) == list(range(len(hits)))
    assert all(found.index(pair.newer) < found.index(pair.older) for pair in pairs)


@settings(max_examples=examples(200), deadline=None)
@given(moments_and_pairs)
def test_hits_of_no_pair_stay_in_their_order(case: tuple[list[float], list[Pair]]) -> None:
    moments, pairs = case
    paired = {pair.newer for pair in pairs} | {pair.older for pair in pairs}
    found = [hit.id for hit in put_newer_first(hits_of(moments), pairs)]
    alone = [number for number in found if number not in paired]
    assert alone == sorted(alone)


@settings(max_examples=examples(100), deadline=None)
@given(moments_and_pairs, st.randoms())
def test_order_of_pairs_does_not_matter(case: tuple[list[float], list[Pair]], random) -> None:
    moments, pairs = case
    shuffled = random.sample(pairs, len(pairs))
    assert [hit.id for hit in put_newer_first(hits_of(moments), shuffled)] == [
        hit.id for hit in put_newer_first(hits_of(moments), pairs)
    ]


def test_without_pairs_hits_stay_as_they_are() -> None:
    hits = hits_of([1.0, 3.0, 2.0])
    assert list(put_newer_first(hits, [])) == hits
    assert list(put_newer_first(hits, [Pair(7, 0), Pair(1, 9)])) == hits


def test_what_is_newer_than_what_moves_up_moves_with_it() -> None:
    found = put_newer_first(hits_of([1.0, 0.0, 3.0, 2.0]), [Pair(3, 0), Pair(2, 3, Kinship.CONFLICT)])
    assert [hit.id for hit in found] == [2, 3, 0, 1]
    assert found[0].precedence == Precedence(older=3, by=Kinship.CONFLICT, place=3)


def test_order_in_which_rows_were_stored_does_not_matter() -> None:
    rows = [OLD, NEW, row(3, "Ana lives in Faro now.", towards(0.5)), row(4, "The cat is grey.", towards(0.3, 2))]
    found = {tuple(ids(search("Where does Ana live?", filled(*order)))) for order in permutations(rows)}
    assert found == {(3, 2, 1, 4)}


words = st.lists(st.sampled_from(["fork", "river", "chess", "lamp", "ana", "live", "now"]), min_size=1, max_size=5)
stored = st.lists(
    st.tuples(words.map(" ".join), st.sampled_from([0.2, 0.5, 0.8, 0.9]), st.integers(0, 3)), min_size=1, max_size=30
)


@settings(max_examples=examples(60), deadline=None)
@given(stored, words.map(" ".join), st.integers(1, 30))
def test_search_only_reorders_and_its_beginning_does_not_depend_on_its_length(
    texts: list[tuple[str, float, int]], query: str, top_k: int
) -> None:
    rows = [row(n, text, towards(cosine), at=float(at)) for n, (text, cosine, at) in enumerate(texts, 1)]
    store = filled(*rows)
    plain, full = search(query, store, current_first=False, top_k=100), search(query, store, top_k=100)
    assert {(hit.id, hit.score) for hit in full.hits} == {(hit.id, hit.score) for hit in plain.hits}
    assert ids(search(query, store, top_k=top_k)) == ids(full)[:top_k]
    assert (full.matched, full.filtered) == (plain.matched, plain.filtered)
