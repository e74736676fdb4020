"""Taking back what was learnt: once, and never what a person wrote."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from django.db.models import F

from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock
from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Access, Permission, Scope
from apps.notes.conversations.undo import fact_undo
from apps.notes.index.disk import place_of
from apps.notes.index.handles import index_of
from apps.notes.models import ExtractedFact, ExtractionRun, NoteVersion
from apps.semantic.models import Memory
from tests.api import Api, api_for
from tests.integration.notes.conversations.test_pipeline import folder_of, main_text, memories, talk
from tests.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana() -> Api:
    """A caller with a key of ana's."""
    return api_for(Scope("ana"))


def undo(api: Api, fact: dict) -> dict:
    response = api.post(f"/api/auto-memory/facts/{fact['id']}/undo")
    assert response.status_code == 200, response.content
    answer: dict = response.json()
    return answer


def test_fact_is_taken_back_and_everything_else_stays(ana):
    first, second = talk(ana, "I live in Bergen.", "I was born in Tromsø.")["results"]
    before = main_text()
    undone = undo(ana, first)
    assert (undone["state"], undone["undo"]["note"], undone["undo"]["memory"]) == ("undone", "removed", "deleted")
    assert main_text() == before.replace(f"- {first['content']}\n", "")
    assert list(memories()) == [second["content"]]
    version = NoteVersion.objects.order_by("number").last()
    assert version is not None
    assert (version.kind, version.author) == ("edit", undone["undo"]["by"])


def test_line_that_is_taken_back_leaves_the_index(settings):
    """Spec 001, 提取結果: facts are in the index as soon as they are in the file, and what is undone is not."""
    ida = api_for(Scope("ida"))  # whose index does not pause because of another test
    settings.MEMORYHUB = replace(settings.MEMORYHUB, notes_search="keyword")
    [fact] = talk(ida, "I live in Bergen.")["results"]
    index = index_of(place_of("ida"))
    with index.database.connection() as connection:
        assert [text for (text,) in connection.execute("SELECT text FROM texts")] == [f"- {fact['content']}"]
    undo(ida, fact)
    with index.database.connection() as connection:
        assert fact["content"] not in str(list(connection.execute("SELECT text FROM texts")))


def test_second_undo_is_harmless(ana):
    [fact] = talk(ana, "I live in Bergen.")["results"]
    first = undo(ana, fact)
    after = main_text()
    assert undo(ana, fact) == first
    assert main_text() == after
    path = folder_of("ana").path / "MEMORY.md"
    path.write_text(f"- {fact['content']}\n")
    assert undo(ana, fact) == first
    assert path.read_text() == f"- {fact['content']}\n", "written by a person since"


def test_line_that_a_person_has_changed_stays(ana):
    [fact] = talk(ana, "I live in Bergen.")["results"]
    NoteVersion.objects.update(at=F("at") - timedelta(seconds=5))
    path = folder_of("ana").path / "MEMORY.md"
    path.write_text(path.read_text().replace("Bergen.", "Bergen now."))
    undone = undo(ana, fact)
    assert (undone["undo"]["note"], undone["undo"]["memory"]) == ("changed", "deleted")
    assert "Bergen now." in path.read_text()


def test_line_that_is_gone_is_said_to_be(ana):
    [fact] = talk(ana, "I live in Bergen.")["results"]
    other = "# Shopping\n"
    base = ana.get("/api/memory/main").json()["sha256"]
    assert ana.call("PUT", "/api/memory/main", {"text": other, "base_sha256": base}).status_code == 200
    ana.delete(f"/api/semantic/memories/{fact['memory']}")
    undone = undo(ana, fact)
    assert (undone["undo"]["note"], undone["undo"]["memory"]) == ("gone", "gone")
    assert main_text() == other


def test_line_with_other_line_ends_is_found(ana):
    folder_of("ana").create()
    path = folder_of("ana").path / "MEMORY.md"
    path.write_bytes(b"# Mine\r\n\r\n* tea\r\n")
    [fact] = talk(ana, "I live in Bergen.")["results"]
    assert undo(ana, fact)["undo"]["note"] == "removed"
    assert path.read_bytes().startswith(b"# Mine\r\n\r\n* tea\r\n")
    assert fact["content"].encode() not in path.read_bytes()


def test_item_to_which_a_person_has_added_stays(ana):
    [fact] = talk(ana, "I live in Bergen.")["results"]
    path = folder_of("ana").path / "MEMORY.md"
    path.write_text(path.read_text() + "  Near the harbour.\n")
    before = path.read_text()
    assert undo(ana, fact)["undo"]["note"] == "changed"
    assert path.read_text() == before


def test_line_in_a_note_that_is_not_utf8_is_taken_out(ana):
    folder_of("ana").create()
    path = folder_of("ana").path / "MEMORY.md"
    path.write_bytes(b"# Caf\xe9\n")
    [fact] = talk(ana, "I live in Bergen.")["results"]
    assert undo(ana, fact)["undo"]["note"] == "removed"
    assert path.read_bytes() == b"# Caf\xe9\n\n## About\n\n"


def test_of_equal_lines_that_of_the_category_goes(ana):
    folder_of("ana").create()
    path = folder_of("ana").path / "MEMORY.md"
    [fact] = talk(ana, "I live in Bergen.")["results"]
    line = f"- {fact['content']}\n"
    path.write_text(f"{line}\n{path.read_text()}\n## Other\n\n{line}")
    undo(ana, fact)
    assert path.read_text().startswith(line)
    assert path.read_text().endswith(f"## Other\n\n{line}")
    assert path.read_text().count(line) == 2


def test_decision_is_reverted(ana):
    former = talk(ana, "I live in Bergen.")["results"][0]
    [fact] = talk(ana, "I moved to Oslo.", session="later")["results"]
    assert fact["memory_action"] == "superseded_existing"
    assert list(memories()) == [fact["content"]]
    undone = undo(ana, fact)
    assert (undone["undo"]["note"], undone["undo"]["memory"]) == ("removed", "reverted")
    assert list(memories()) == [former["content"]], "what it had replaced holds again"


def test_undo_is_refused_when_what_was_replaced_has_changed_since(ana):
    former = talk(ana, "I live in Bergen.")["results"][0]
    [fact] = talk(ana, "I moved to Oslo.", session="later")["results"]
    ana.delete(f"/api/semantic/memories/{former['memory']}")
    before = main_text()
    refused = ana.post(f"/api/auto-memory/facts/{fact['id']}/undo")
    assert refused.status_code == 409
    assert main_text() == before, "nothing is undone"
    assert ExtractedFact.objects.get(uuid=fact["id"]).state == "applied"


def test_decision_about_what_was_undone_itself_is_not_reverted(ana):
    """Nothing is left that could hold again, so the winner is deleted."""
    facts = [
        talk(ana, said, session=said)["results"][0]
        for said in ("I live in Bergen.", "I moved to Oslo.", "I moved to Turin.")
    ]
    assert [fact["memory_action"] for fact in facts] == ["inserted", *["superseded_existing"] * 2]
    assert [undo(ana, fact)["undo"]["memory"] for fact in facts] == ["deleted"] * 3
    assert (memories(), main_text().count("- ")) == ({}, 0)


def test_line_of_another_fact_that_says_the_same_stays(ana):
    [first] = talk(ana, "I live in Bergen.")["results"]
    base = ana.get("/api/memory/main").json()["sha256"]
    assert ana.call("PUT", "/api/memory/main", {"text": "# Mine\n", "base_sha256": base}).status_code == 200
    ana.delete(f"/api/semantic/memories/{first['memory']}")
    [second] = talk(ana, "I live in Bergen.")["results"]
    before = main_text()
    assert undo(ana, first)["undo"]["note"] == "gone"
    assert (main_text(), list(memories())) == (before, [second["content"]])
    assert undo(ana, second)["undo"]["note"] == "removed"
    assert second["content"] not in main_text()


def test_of_lines_of_two_equal_facts_one_goes(ana):
    said = ("I live in Oslo.", "I moved to Bergen.", "I live in Oslo.")
    facts = [talk(ana, text, session=str(number))["results"][0] for number, text in enumerate(said)]
    assert main_text().count("I live in Oslo.") == 2
    assert undo(ana, facts[2])["undo"]["note"] == "removed"
    assert main_text().count("I live in Oslo.") == 1
    assert list(memories()) == [facts[1]["content"]]


@pytest.mark.parametrize("said", [["I live in Bergen."], ["I live in Oslo.", "I moved to Bergen."]])
def test_memory_that_a_person_has_corrected_stays(ana, said):
    fact = [talk(ana, text, session=text)["results"][0] for text in said][-1]
    corrected = {"content": "I live in Bergen, in the old town."}
    assert ana.call("PATCH", f"/api/semantic/memories/{fact['memory']}", corrected).status_code == 200
    undone = undo(ana, fact)
    assert (undone["undo"]["note"], undone["undo"]["memory"]) == ("removed", "changed")
    assert corrected["content"] in memories()


def test_fact_whose_person_is_forgotten_in_between_is_not_found(ana):
    [fact] = talk(ana, "I live in Bergen.")["results"]

    class Forgetting(DeterministicClock):
        """Forgets the person while the fact is undone."""

        def now(self) -> int:
            ExtractionRun.objects.filter(user_id="ana").delete()
            return super().now()

    access = Access(Scope("ana"), Permission.WRITE, "test")
    with pytest.raises(NotFoundError):
        fact_undo(access=access, uuid=UUID(fact["id"]), clock=Forgetting(SYSTEM_CLOCK.now()))


def test_fact_that_was_dropped_has_nothing_to_undo(ana):
    talk(ana, "I live in Bergen.")
    [fact] = talk(ana, "I live in Bergen.")["results"]
    refused = ana.post(f"/api/auto-memory/facts/{fact['id']}/undo")
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, "nothing_to_undo")


def test_undone_fact_that_is_said_again_is_learnt_again(ana):
    [fact] = talk(ana, "I live in Bergen.")["results"]
    undo(ana, fact)
    assert [each["state"] for each in talk(ana, "I live in Bergen.")["results"]] == ["applied"]


def test_only_keys_of_the_person_may_undo(ana):
    [fact] = talk(ana, "I live in Bergen.")["results"]
    path = f"/api/auto-memory/facts/{fact['id']}/undo"
    for scope in (Scope("ben"), Scope("ana", household_id="elm"), Scope(persona_id="guide")):
        assert api_for(scope).post(path).status_code == 404
    assert api_for(Scope("ana"), Permission.READ).post(path).status_code == 403
    assert Memory.objects.filter(status="active").count() == 1


@pytest.mark.django_db(transaction=True)
def test_undo_at_once_takes_out_one_line(ana):
    [fact] = talk(ana, "I live in Bergen.")["results"]
    path = folder_of("ana").path / "MEMORY.md"
    path.write_text(path.read_text() + f"\n## Mine\n\n- {fact['content']}\n")
    answers = at_once(*[lambda: undo(api_for(Scope("ana")), fact)] * 3)
    assert {answer["undo"]["note"] for answer in answers} == {"removed"}
    assert path.read_text().count(fact["content"]) == 1
