"""Search over REST: spec 004 "Search memories", spec 000 "Semantic Memory Retrieval Controls", DESIGN D10."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission, Scope
from apps.llm.embedding.embedder import embed_texts
from apps.semantic.models import Memory, MemoryShard
from tests.api import SEARCH, Api, api_for, contents

pytestmark = pytest.mark.django_db

FACTS = ["User prefers Python", "Green tea in the morning", "The dog is called Rex", "Paints on Sundays"]


@pytest.fixture
def facts(api: Api) -> Api:
    """An application that has saved four facts."""
    for fact in FACTS:
        api.save(fact)
    return api


def age(days: float, **which: Any) -> None:
    """Make memories older than they are, as if time had passed."""
    shard = MemoryShard.objects.get(user_id="ana")
    shard.version += 1
    shard.save()
    Memory.objects.filter(**which).update(created_at=utcnow(SYSTEM_CLOCK) - timedelta(days=days), version=shard.version)


def adds_up(answer: dict[str, Any]) -> bool:
    diagnostics = answer["diagnostics"]
    return (
        diagnostics["matched_count"] + diagnostics["filtered_count"] == diagnostics["considered_count"]
        and sum(diagnostics["filtered"].values()) == diagnostics["filtered_count"]
    )


def test_search_with_no_filters(facts: Api) -> None:
    facts.delete(f"/api/semantic/memories/{facts.save('Python is a snake')['id']}")
    answer = facts.search("python preferences")
    assert answer["count"] == len(answer["results"]) == len(FACTS)
    assert contents(answer)[0] == "User prefers Python"
    assert all(item["confidence"] == 1.0 for item in answer["results"])
    assert "Python is a snake" not in contents(answer)


def test_results_below_min_confidence_are_excluded(api: Api) -> None:
    api.save("tea", decay_policy="contextual")
    api.save("coffee")
    age(14, content="tea")
    answer = api.search("drinks", min_confidence=0.5)
    assert contents(answer) == ["coffee"]
    assert answer["diagnostics"]["filtered"] == {"min_confidence": 1}


def test_search_with_tag_filters(api: Api) -> None:
    api.save("python one", agent="claude", project="my-project")
    api.save("python two", agent="claude", project="other")
    api.save("python three", agent="gpt", project="my-project")
    answer = api.search("python", agent="claude", project="my-project")
    assert contents(answer) == ["python one"]
    assert answer["diagnostics"]["filtered"] == {"agent": 1, "project": 1}
    assert adds_up(answer)


def test_search_respects_limit(facts: Api) -> None:
    answer = facts.search("anything", top_k=2)
    assert answer["count"] == 2
    assert answer["diagnostics"]["matched_count"] == len(FACTS)


def test_search_accepts_limit_and_top_k(facts: Api) -> None:
    for asked in ({"limit": 2}, {"top_k": 2}, {"limit": 2, "top_k": 2}):
        assert facts.search("anything", **asked)["count"] == 2
    response = facts.post(SEARCH, {"query": "anything", "limit": 2, "top_k": 3})
    [error] = response.json()["errors"]
    assert (response.status_code, error["code"], error["attr"]) == (422, "contradiction", "top_k")
    assert facts.post(SEARCH, {"query": "anything", "limit": 1_001}).status_code == 400


def test_query_semantic_memory_records(api: Api) -> None:
    for fact in FACTS:
        api.save(fact, source="skill", metadata={"from": "a test"})
    vector = [float(x) for x in embed_texts(["The dog is called Rex"])[0]]
    answer = api.search(embedding=vector, top_k=2, min_similarity=0.0)
    best = answer["results"][0]
    assert best["memory"]["content"] == "The dog is called Rex"
    assert best["score"] == best["similarity"] == pytest.approx(1.0, abs=1e-5)
    assert (best["memory"]["source"], best["memory"]["metadata"]) == ("skill", {"from": "a test"})
    assert answer["count"] <= 2
    assert answer["diagnostics"]["mode"] == "vector"


def test_threshold_and_window_enforcement(facts: Api) -> None:
    age(40, content="Paints on Sundays")
    answer = facts.search("The dog is called Rex", min_similarity=0.5, last_days=30)
    assert contents(answer) == ["The dog is called Rex"]
    assert answer["diagnostics"]["filtered"] == {"time_window": 1, "min_similarity": 2}
    assert adds_up(answer)


def test_window_is_about_when_it_happened_if_that_is_known(api: Api) -> None:
    api.save("the wedding", occurred_at="2023-05-08T13:56:00+02:00")
    api.save("the funeral", occurred_at="2023-06-08T13:56:00Z")
    may = {"from": "2023-05-01T00:00:00Z", "to": "2023-05-31T23:59:59Z"}
    assert contents(api.search("the party", time_window=may)) == ["the wedding"]


def test_both_ends_of_the_window_are_inside_it(api: Api) -> None:
    api.save("noon", occurred_at="2023-05-08T12:00:00Z")
    moment = datetime(2023, 5, 8, 12, tzinfo=UTC).isoformat()
    assert api.search("noon", time_window={"from": moment, "to": moment})["count"] == 1


def test_context_isolation() -> None:
    hub = api_for(Scope())
    for household in ("one", "two"):
        for persona in ("chef", "nurse"):
            hub.save(f"of {household} and {persona}", user_id="ana", household_id=household, persona_id=persona)
    assert contents(hub.search("of", household_id="one", persona_id="chef")) == ["of one and chef"]
    assert hub.search("of", household_id="two")["diagnostics"]["considered_count"] == 2
    assert api_for(Scope(household_id="one")).search("of")["count"] == 2
    assert api_for(Scope(household_id="one")).search("of", household_id="two")["count"] == 0
    assert api_for(Scope(persona_id="cook"), Permission.READ).search("of")["diagnostics"]["considered_count"] == 0


def test_search_without_user_ranks_memories_of_all_users_together() -> None:
    hub = api_for(Scope())
    for user in ("ana", "ben", "cem"):
        hub.save(f"{user} plays chess", user_id=user, household_id="home")
        hub.save(f"{user} likes rain", user_id=user)
    answer = api_for(Scope(household_id="home")).search("who plays chess", top_k=2, explain=True)
    assert answer["diagnostics"]["considered_count"] == 3
    assert {item["explain"]["keyword"]["terms"][0]["idf"] for item in answer["results"]} == {0.133531}


def test_hybrid_is_default_and_finds_by_word_what_meaning_misses(api: Api) -> None:
    for n in range(30):
        api.save(f"note number {n} about the weather in the north")
    api.save("invoice XQ-7731 was paid")
    answer = api.search("XQ-7731")
    assert answer["diagnostics"]["mode"] == "hybrid"
    assert contents(answer)[0] == "invoice XQ-7731 was paid"


def test_keyword_mode_returns_only_memories_that_share_word(facts: Api) -> None:
    answer = facts.search("which dogs", mode="keyword")
    assert contents(answer) == ["The dog is called Rex"]
    assert answer["results"][0]["similarity"] is None
    assert answer["diagnostics"]["filtered"] == {"no_common_word": 3}


def test_vector_mode_scores_by_similarity_alone(facts: Api) -> None:
    answer = facts.search("The dog is called Rex", mode="vector")
    assert all(item["score"] == item["similarity"] for item in answer["results"])


def test_neighbours_in_a_session_are_context(api: Api) -> None:
    api.save("Where did you spend the summer?", session_id="s", occurred_at="2023-05-08T10:00:00Z")
    api.save("In a hut by the lake", session_id="s", occurred_at="2023-05-08T10:00:05Z")
    api.save("In a flat by the road", occurred_at="2023-05-08T10:00:05Z")
    assert contents(api.search("summer", mode="keyword")) == ["Where did you spend the summer?", "In a hut by the lake"]


def test_neighbours_are_context_whatever_order_of_writing(api: Api) -> None:
    api.save("In a hut by the lake", session_id="s", occurred_at="2023-05-08T10:00:05Z")
    api.search("warm the index")
    api.save("Where did you spend the summer?", session_id="s", occurred_at="2023-05-08T10:00:00Z")
    assert contents(api.search("summer", mode="keyword")) == ["Where did you spend the summer?", "In a hut by the lake"]


def test_the_context_of_a_memory_is_findable(api: Api) -> None:
    api.save("Yes, gladly", context="asked whether she would adopt a kitten")
    api.save("No, never")
    assert contents(api.search("kitten", mode="keyword")) == ["Yes, gladly"]


def test_date_of_memory_is_findable_in_words(api: Api) -> None:
    api.save("Ran a marathon", occurred_at="2023-05-08T10:00:00Z")
    api.save("Ran another one", occurred_at="2023-09-08T10:00:00Z")
    assert contents(api.search("May 2023", mode="keyword"))[0] == "Ran a marathon"
    assert contents(api.search("what happened on 8 May", mode="keyword"))[0] == "Ran a marathon"


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("我们昨天在北京大学见面", "北京"),
        ("昨日は東京タワーに登りました", "東京"),
        ("서울에서 친구를 만났어요", "친구"),
    ],
)
def test_two_character_word_inside_sentence_is_found(api: Api, content: str, query: str) -> None:
    api.save(content)
    api.save("something else entirely")
    assert contents(api.search(query, mode="keyword")) == [content]


def test_words_are_found_in_their_other_forms(api: Api) -> None:
    api.save("She was painting landscapes")
    assert api.search("paint a landscape", mode="keyword")["count"] == 1


def test_each_result_is_explained_on_request(facts: Api) -> None:
    best = facts.search("python preferences", explain=True)["results"][0]
    parts = best["explain"]
    together = parts["vector"]["contribution"] + parts["keyword"]["contribution"]
    assert together * parts["substance"] == pytest.approx(best["score"], abs=1e-5)
    assert parts["keyword"]["bm25"] == pytest.approx(sum(t["score"] for t in parts["keyword"]["terms"]), abs=1e-5)
    assert {term["term"] for term in parts["keyword"]["terms"]} >= {"python"}


def test_a_search_sees_what_was_just_changed(api: Api) -> None:
    memory = api.save("tea", decay_policy="reinforceable")
    assert api.search("tea")["count"] == 1
    api.delete(f"/api/semantic/memories/{memory['id']}")
    assert api.search("tea")["count"] == 0
    api.post(f"/api/semantic/memories/{memory['id']}/restore")
    assert api.search("tea")["count"] == 1


def test_a_superseded_memory_is_not_found(api: Api) -> None:
    api.save("tea")
    Memory.objects.update(status="superseded")
    assert api.search("tea")["count"] == 0


def test_a_hybrid_search_needs_words(api: Api) -> None:
    response = api.post("/api/semantic/search", {"embedding": [1.0] * 384, "mode": "hybrid"})
    assert response.status_code == 400
    assert response.json()["errors"][0]["attr"] == "query"


def test_vector_of_wrong_length_is_refused_outside_bound_too(api: Api) -> None:
    response = api.post("/api/semantic/search", {"embedding": [1.0] * 7, "user_id": "somebody else"})
    assert response.status_code == 400
    assert response.json()["errors"][0]["attr"] == "embedding"
