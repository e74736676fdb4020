"""A question in one script of Chinese finds what is written in the other, and shows it as it is written."""

import pytest

from apps.core.domain.scope import Scope, system_access
from apps.llm.embedding import embedder
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.retrieval.domain.ranking import terms_of
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.reembed import outdated_words, refresh_words
from apps.semantic.models import Memory
from apps.semantic.search.every_status import candidate_ids
from apps.semantic.search.search import memory_search
from apps.semantic.services import memory_save
from apps.semantic.store.embedding_space import current_space

pytestmark = pytest.mark.django_db
ACCESS = system_access("tests")
ANA = Scope(user_id="ana")


def save(*contents):
    """Save memories of Ana."""
    for content in contents:
        memory_save(access=ACCESS, draft=MemoryDraft(content=content, scope=ANA))


def ask(text, **fields):
    """Ask Ana's memories."""
    return memory_search(ACCESS, SearchQuery(scope=ANA, query=text, history=False, **fields)).found


def test_question_in_either_script_finds_the_other_and_is_shown_as_asked():
    save("女兒對花生過敏", "体检报告在抽屉里", "Tea is in the pantry.")
    for question, content in (("花生过敏", "女兒對花生過敏"), ("體檢報告", "体检报告在抽屉里")):
        (hit,) = ask(question, mode=SearchMode.KEYWORD, explain=True)
        assert hit.memory.content == content
        assert {share.term for share in hit.hit.terms if len(share.term) == 2} <= {
            question[place : place + 2] for place in range(3)
        }


def test_memories_of_the_version_before_are_found_after_an_upgrade():
    save("體檢報告在抽屜裡")
    Memory.objects.update(lexemes=b"", lexemes_version=201)
    assert outdated_words().count() == 1
    assert refresh_words() == 1
    assert len(ask("体检报告", mode=SearchMode.KEYWORD)) == 1


def test_what_the_embedder_does_not_read_is_weighed_by_words_alone(monkeypatch):
    save("Fork by the river", "女兒對花生過敏")
    assert {each.hit.vector_weight for each in ask("花生過敏", explain=True)} == {0.5}
    # As MiniLM says of Chinese.
    monkeypatch.setattr(type(embedder.get_embedder()), "known_share", lambda _, text: float(text.isascii()))
    best, other = ask("花生过敏", explain=True)
    assert (best.hit.vector_weight, other.hit.score) == (0.0, 0.0)
    assert best.hit.score == pytest.approx(best.hit.substance, rel=0.2)
    assert {each.hit.vector_weight for each in ask("fork")} == {0.5}


def test_candidates_of_large_scopes_are_looked_for_in_both_scripts(monkeypatch):
    monkeypatch.setattr("apps.semantic.search.every_status.MAX_ROWS", 4)
    save("體檢報告在抽屜裡", "体检在三月", "Tea", "Coffee", "Juice")
    terms = terms_of(SearchQuery(query="體檢", mode=SearchMode.KEYWORD))
    found = candidate_ids(Memory.objects.all(), terms, None, current_space())
    assert set(Memory.objects.filter(pk__in=found).values_list("content", flat=True)) == {
        "體檢報告在抽屜裡",
        "体检在三月",
    }
