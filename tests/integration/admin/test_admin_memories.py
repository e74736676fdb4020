"""Memories in the admin: found, looked at, deleted, restored."""

import logging
from collections.abc import Callable

import pytest
from django.test import Client

from apps.audit.models import AuditEntry
from apps.core.domain.scope import system_access
from apps.events.models import Event
from apps.semantic.models import Memory
from apps.semantic.services import memory_delete
from tests.integration.admin.pages import address, run, text_of
from tests.integration.semantic.managed_support import MANAGER, change, write
from tests.integration.semantic.managed_support import manager as manager

pytestmark = pytest.mark.django_db

Remember = Callable[..., Memory]
LIST = address(Memory, "changelist")


def found(client: Client, term: str, **query: str) -> list[str]:
    """The contents that a search lists, in order."""
    response = client.get(LIST, {"q": term, **query})
    assert response.status_code == 200
    return [memory.content for memory in response.context["cl"].result_list]


def delete(memory: Memory) -> None:
    memory_delete(access=system_access("test"), uuid=memory.uuid)


# Searching


def test_search_lists_best_first_whatever_their_ids(operator: Client, remember: Remember) -> None:
    remember("The boiler was serviced")
    remember("The boiler room is behind the kitchen door")
    remember("Ben likes hazelnuts")
    expected = ["The boiler was serviced", "The boiler room is behind the kitchen door"]
    assert found(operator, "boiler") == expected


def test_search_for_something_unrelated_lists_nothing(operator: Client, remember: Remember) -> None:
    for content in ("The boiler was serviced", "Ben likes hazelnuts", "Ana prefers tea"):
        remember(content)
    assert found(operator, "xylophone") == []


def test_another_order_can_be_asked_for(operator: Client, remember: Remember) -> None:
    remember("Tea")
    remember("Tea of a sort that nobody in this house has ever had before breakfast")
    assert found(operator, "tea")[0] == "Tea"
    saved_at = operator.get(LIST, {"q": "tea"}).context["cl"].list_display.index("when")
    assert found(operator, "tea", o=f"-{saved_at}")[0] != "Tea"


def test_a_deleted_memory_is_found_by_its_text(operator: Client, remember: Remember) -> None:
    delete(remember("The garden fence is green"))
    assert found(operator, "garden fence") == ["The garden fence is green"]
    assert found(operator, "garden fence", status__exact="active") == []


def test_a_memory_is_found_by_its_id(operator: Client, remember: Remember) -> None:
    memory = remember("Ana prefers tea")
    remember("Ben prefers coffee")
    assert found(operator, str(memory.uuid)) == ["Ana prefers tea"]


def test_filter_on_one_user_searches_all_of_that_user(
    operator: Client, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.semantic.admin.search.TOP_K", 2)
    for number in range(4):
        remember(f"tea {number}", user="ben")
    remember("a cup of tea in the afternoon, seldom with milk", user="ana")
    assert found(operator, "tea", user_id="ana") == ["a cup of tea in the afternoon, seldom with milk"]


@pytest.mark.parametrize("term", ["\x00", "%", "' OR 1=1 --", "x" * 5_000, "的"])
def test_odd_terms_break_nothing(operator: Client, remember: Remember, term: str) -> None:
    remember("Ana prefers tea")
    assert operator.get(LIST, {"q": term}).status_code in {200, 302}


# Looking


def test_page_of_memory_shows_what_is_known_of_it_escaped(operator: Client, remember: Remember) -> None:
    memory = remember("<b>Ana</b>", metadata={"tool": "<i>"})
    text = text_of(operator, address(Memory, "change", memory.pk))
    assert "&lt;b&gt;Ana&lt;/b&gt;" in text
    assert "&quot;tool&quot;: &quot;&lt;i&gt;&quot;" in text
    assert "<b>Ana</b>" not in text
    assert "1.00 now; 1.00 claimed; stable: does not decay" in text
    assert "in use" in text


def test_who_may_view_memories_sees_their_history(staff: Callable[..., Client], remember: Remember) -> None:
    memory = remember("Ana prefers tea")
    delete(memory)
    text = text_of(staff("view_memory"), address(Memory, "change", memory.pk))
    assert "status: active → deleted" in text


# Deleting and restoring


def test_deleting_from_list_asks_first_and_shows_what(operator: Client, remember: Remember) -> None:
    memories = [remember("Ana likes tea"), remember("Ana <b>likes</b> dogs")]
    text = run(operator, "soft_delete", memories).content.decode()
    for words in ("Delete these memories?", "Ana likes tea", "Ana &lt;b&gt;likes&lt;/b&gt; dogs", "Active, of ana"):
        assert words in text
    assert set(Memory.objects.values_list("status", flat=True)) == {"active"}


def test_deleting_from_list_is_soft_and_says_how_many(operator: Client, remember: Remember) -> None:
    memories = [remember("one"), remember("two")]
    response = run(operator, "soft_delete", memories, confirmed="yes")
    assert "2 memories deleted." in response.content.decode()
    assert set(Memory.objects.values_list("status", flat=True)) == {"deleted"}
    assert Event.objects.filter(name="memory:semantic:deleted").count() == 2


def test_restoring_from_list_names_what_refuses(operator: Client, remember: Remember) -> None:
    gone, there = remember("one"), remember("two")
    delete(gone)
    text = run(operator, "restore", [gone, there]).content.decode()
    assert "1 memory restored." in text
    assert f"{there.uuid}: This memory is not deleted." in text
    gone.refresh_from_db()
    assert gone.status == "active"


def test_the_page_asks_before_it_deletes(operator: Client, remember: Remember) -> None:
    memory = remember("one")
    assert "Delete this memory?" in text_of(operator, address(Memory, "soft_delete_this", memory.pk))
    memory.refresh_from_db()
    assert memory.status == "active"


@pytest.mark.parametrize(("action", "before", "after"), [
    ("soft_delete_this", "active", "deleted"), ("restore_this", "deleted", "active"),
])  # fmt: skip
def test_the_answer_yes_on_a_page_is_obeyed(
    operator: Client, remember: Remember, action: str, before: str, after: str
) -> None:
    memory = remember("one")
    if before == "deleted":
        delete(memory)
    response = operator.post(
        address(Memory, action, memory.pk), {"_form_submitted": "True"}, headers={"HX-Request": "true"}
    )
    assert response.headers["HX-Redirect"] == address(Memory, "change", memory.pk)
    memory.refresh_from_db()
    assert memory.status == after


def test_a_page_offers_what_fits(operator: Client, remember: Remember) -> None:
    memory = remember("one")
    page, restore = address(Memory, "change", memory.pk), address(Memory, "restore_this", memory.pk)
    assert restore not in text_of(operator, page)
    delete(memory)
    assert restore in text_of(operator, page)


@pytest.mark.usefixtures("manager")
def test_a_managed_memory_is_shown_and_not_changed(operator: Client) -> None:
    [uuid] = write(change("[ADR] Indent with tabs (accepted)"))
    memory = Memory.objects.get(uuid=uuid)
    page = text_of(operator, address(Memory, "change", memory.pk))
    assert MANAGER in page
    assert address(Memory, "soft_delete_this", memory.pk) not in page
    operator.post(address(Memory, "soft_delete_this", memory.pk), {"_form_submitted": "True"})
    response = run(operator, "soft_delete", [memory], confirmed="yes")
    assert "change the item where it is kept" in response.content.decode()
    memory.refresh_from_db()
    assert memory.status == "active"
    write(deletes={uuid: "removed"})
    assert address(Memory, "restore_this", memory.pk) not in text_of(operator, address(Memory, "change", memory.pk))
    run(operator, "restore", [memory])
    memory.refresh_from_db()
    assert memory.status == "deleted"


@pytest.mark.parametrize("action", ["soft_delete_this", "restore_this"])
@pytest.mark.parametrize("key", ["999999", "nonsense"])
def test_action_on_what_is_not_there_is_not_found(operator: Client, action: str, key: str) -> None:
    response = operator.post(address(Memory, action, key), {"_form_submitted": "True"})
    assert response.status_code == 404


def test_who_may_only_look_can_neither_delete_nor_restore(staff: Callable[..., Client], remember: Remember) -> None:
    there, gone = remember("one"), remember("two")
    delete(gone)
    client = staff("view_memory")
    run(client, "soft_delete", [there], confirmed="yes")
    run(client, "restore", [gone])
    for action, memory in (("soft_delete_this", there), ("restore_this", gone)):
        response = client.post(address(Memory, action, memory.pk), {"_form_submitted": "True"})
        assert response.status_code == 403
    there.refresh_from_db()
    gone.refresh_from_db()
    assert (there.status, gone.status) == ("active", "deleted")


def test_who_may_delete_memories_can(staff: Callable[..., Client], remember: Remember) -> None:
    memory = remember("one")
    run(staff("view_memory", "delete_memory"), "soft_delete", [memory], confirmed="yes")
    memory.refresh_from_db()
    assert memory.status == "deleted"


def test_memory_is_neither_changed_nor_destroyed_by_hand(operator: Client, remember: Remember) -> None:
    memory = remember("one")
    assert operator.post(address(Memory, "change", memory.pk), {"content": "forged"}).status_code == 403
    assert operator.post(address(Memory, "delete", memory.pk), {"post": "yes"}).status_code == 403
    run(operator, "delete_selected", [memory], post="yes")
    memory.refresh_from_db()
    assert memory.content == "one"


def test_neither_logs_nor_messages_hold_content_of_memories(
    operator: Client, remember: Remember, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="apps")
    memory = remember("a confession")
    text = run(operator, "soft_delete", [memory], confirmed="yes").content.decode()
    assert "1 memory deleted." in text
    assert "confession" not in caplog.text
    assert all("confession" not in str(vars(entry)) for entry in AuditEntry.objects.all())
