"""Conflicts in the admin: the queue, the page of a decision, and reverting many."""

import re
from collections.abc import Callable
from copy import copy
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django_q.conf import Conf
from django_q.models import OrmQ, Task

from apps.core.admin.kit import moment
from apps.core.domain.scope import Scope, system_access
from apps.rules.services import rule_register
from apps.semantic.admin.bulk_revert import AT_ONCE
from apps.semantic.conflicts.bulk_revert import TASK
from apps.semantic.conflicts.receipt_page import allowed_steps
from apps.semantic.conflicts.review import Winner, conflict_accept, conflict_override, conflict_revert
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict, Memory
from apps.semantic.services import memory_delete, memory_save
from tests.integration.admin.pages import address, run, text_of

pytestmark = pytest.mark.django_db

LIST = address(Conflict, "changelist")
MANY = reverse("admin:semantic_conflict_revert_many")
LISBON, NOT_LISBON = "Ana lives in Lisbon.", "Ana does not live in Lisbon."
TEA_AGAIN = "I really like green tea"
BREAD = "Ana bakes rye bread with caraway seeds every Sunday."
ACCESS = system_access("test")
Decide = Callable[..., Conflict]


@pytest.fixture
def decide() -> Decide:
    """Save two memories that disagree; gives the receipt."""

    def save(first: str = LISBON, second: str = NOT_LISBON, user: str = "ana", **fields: Any) -> Conflict:
        for content in (first, second):
            result = memory_save(access=ACCESS, draft=MemoryDraft(content, scope=Scope(user), **fields))
        return Conflict.objects.get(uuid=result.conflict)

    return save


@pytest.fixture
def merged(decide: Decide) -> Conflict:
    detection = {"keyword_threshold": 0.6, "restate_threshold": 0.6}
    rule_register(
        document={"name": "merging", "detection": detection, "arbitration": {"priority_recency": False}}, actor="test"
    )
    receipt = decide(BREAD, f"{BREAD[:-1]} morning.")
    assert receipt.outcome == "merged"
    return receipt


def page_of(receipt: Conflict) -> str:
    return address(Conflict, "change", receipt.pk)


def step(client: Client, receipt: Conflict, name: str) -> HttpResponse:
    """Confirm the dialog of a button on the page of a receipt."""
    url = reverse(f"admin:semantic_conflict_{name}", args=[receipt.pk])
    return client.post(url, {"_form_submitted": "True"}, follow=True)


def listed(client: Client, **query: str) -> set[int]:
    response = client.get(LIST, query)
    assert response.status_code == 200
    return {receipt.pk for receipt in response.context["cl"].result_list}


def active() -> list[str]:
    return list(Memory.objects.active().order_by("id").values_list("content", flat=True))


def state_of(receipt: Conflict) -> str:
    receipt.refresh_from_db()
    return receipt.state


# The queue


def test_queue_shows_what_was_decided_about_what(operator: Client, decide: Decide) -> None:
    decide()
    text = text_of(operator, LIST)
    for expected in (LISBON, NOT_LISBON, "Superseded existing", "recency", "default", "Saving a memory"):
        assert expected in text


def test_the_memory_that_stands_is_marked(operator: Client, decide: Decide) -> None:
    decide()
    text = text_of(operator, LIST)
    standing = re.findall(r'class="mh-side mh-active">.*?title="([^"]*)"', text)
    assert standing == [NOT_LISBON]


def test_a_merge_shows_what_the_two_became(operator: Client, merged: Conflict) -> None:
    assert merged.result is not None
    assert merged.result.content in text_of(operator, LIST)


def test_only_open_decisions_wait_in_the_queue(operator: Client, decide: Decide) -> None:
    waiting, seen = decide(user="ana"), decide(user="ben")
    conflict_accept(access=ACCESS, uuid=seen.uuid)
    assert listed(operator) == {waiting.pk}
    assert listed(operator, state="accepted") == {seen.pk}
    assert listed(operator, state="all") == {waiting.pk, seen.pk}


def test_an_empty_queue_says_that_nothing_waits(operator: Client) -> None:
    assert "No decisions are waiting for review." in text_of(operator, LIST)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"outcome__exact": "noticed"}, {"noticed"}),
        ({"origin__exact": "save"}, {"decided", "noticed"}),
        ({"origin__exact": "consolidation"}, set()),
        ({"rule_name": "default"}, {"decided", "noticed"}),
        ({"rule_name": "no such"}, set()),
        ({"strategy": "recency"}, {"decided"}),
        ({"signal": "contradiction"}, {"decided", "noticed"}),
        ({"signal": "semantic"}, set()),
        ({"user_id": "ana"}, {"decided"}),
        ({"user_id": "an"}, set()),
        ({"household_id": "home"}, set()),
        ({"persona_id": "cook"}, set()),
        ({"at_from_0": "2000-01-01", "at_from_1": "00:00:00"}, {"decided", "noticed"}),
        ({"at_to_0": "2000-01-01", "at_to_1": "00:00:00"}, set()),
        ({"confidence_from": "0.6"}, set()),
        ({"confidence_to": "0.6"}, {"decided", "noticed"}),
        ({"user_id": "ana\x00"}, {"decided"}),
        ({"confidence_from": "much"}, {"decided", "noticed"}),
        ({"state": "no such"}, {"decided", "noticed"}),
    ],
)
def test_the_queue_is_filtered(operator: Client, decide: Decide, query: dict[str, str], found: set[str]) -> None:
    receipts = {
        "decided": decide(user="ana").pk,
        "noticed": decide("Ben spent $12 on postcards.", "Ben spent $15 on postcards.", user="ben").pk,
    }
    assert listed(operator, **query) == {receipts[name] for name in found}


def test_queue_is_searched_by_words_of_either_memory(operator: Client, decide: Decide) -> None:
    receipt, _ = decide(), decide("Ben spent $12 on postcards.", "Ben spent $15 on postcards.", user="ben")
    for term in ("lisbon", "not LIVE", "ana lisbon"):
        assert listed(operator, q=term) == {receipt.pk}
    assert listed(operator, q="lisbon postcards") == set()


def test_queue_is_searched_by_id_of_receipt_or_memory(operator: Client, decide: Decide) -> None:
    receipt, _ = decide(user="ana"), decide(user="ben")
    for uuid in (receipt.uuid, receipt.candidate.uuid, receipt.existing.uuid):
        assert listed(operator, q=str(uuid)) == {receipt.pk}
    assert listed(operator, q=str(uuid4())) == set()


def test_page_of_queue_takes_same_number_of_queries_for_more_rows(
    operator: Client, decide: Decide, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        decide(user=f"user {number}")
    text_of(operator, LIST)
    with django_assert_max_num_queries(10):
        text_of(operator, LIST)


def test_the_queue_is_read_from_an_index(operator: Client, decide: Decide) -> None:
    receipt = decide()
    # Of a single row any index is as good, and what was there before decides.
    settled = [copy(receipt) for _ in range(300)]
    for row in settled:
        row.pk, row.uuid, row.state = None, uuid4(), "accepted"
    Conflict.objects.bulk_create(settled)
    response = operator.get(LIST)
    assert response.status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE semantic_conflict")
        cursor.execute("SET LOCAL enable_seqscan = off")
    plan = response.context["cl"].result_list._chain()[:50].explain()
    assert "semantic_conflict_open" in plan
    assert "Sort" not in plan


def test_chosen_decisions_are_accepted(operator: Client, decide: Decide) -> None:
    receipts = [decide(user="ana"), decide(user="ben")]
    assert "2 decisions accepted." in run(operator, "accept_chosen", receipts).content.decode()
    assert [state_of(receipt) for receipt in receipts] == ["accepted", "accepted"]
    assert receipts[0].reviewed_by == "admin:operator"


def test_reverting_chosen_decisions_asks_first(operator: Client, decide: Decide) -> None:
    receipt = decide()
    text = unescape(run(operator, "revert_chosen", [receipt]).content.decode())
    for words in (
        "Revert these decisions?",
        f"Superseded existing, {moment(receipt.at)}, user {receipt.user_id}",
        f"Candidate: {receipt.candidate.content}",
        f"Existing: {receipt.existing.content}",
        f"The existing memory “{receipt.existing.content}” is active again, exactly as before.",
    ):
        assert words in text
    assert f"<li>{receipt.uuid}</li>" not in text
    assert state_of(receipt) == "open"
    run(operator, "revert_chosen", [receipt], confirmed="yes")
    assert state_of(receipt) == "reverted"


def test_of_chosen_decisions_those_that_refuse_are_named(operator: Client, decide: Decide) -> None:
    decided, noticed = (
        decide(user="ana"),
        decide("Ben spent $12 on postcards.", "Ben spent $15 on postcards.", user="ben"),
    )
    text = run(operator, "revert_chosen", [decided, noticed], confirmed="yes").content.decode()
    assert "1 decision reverted." in text
    assert f"{noticed.uuid}: Both memories were kept: there is nothing to revert." in text


# The page of a decision


def test_the_page_marks_what_differs_word_by_word(operator: Client, decide: Decide) -> None:
    text = text_of(operator, page_of(decide("Ana owns 12 postcards.", "Ana owns 15 postcards.")))
    assert "Ana owns <ins>15 </ins>postcards." in text
    assert "Ana owns <del>12 </del>postcards." in text


def test_page_shows_where_words_of_merged_memory_come_from(operator: Client, merged: Conflict) -> None:
    text = text_of(operator, page_of(merged))
    assert "Merged memory" in text
    assert 'title="From the candidate">' in text


def test_the_page_explains_each_signal(operator: Client, decide: Decide) -> None:
    text = text_of(operator, page_of(decide()))
    assert "Contradiction" in text
    assert "One side is negated." in text
    assert 'title="Threshold"' in text
    assert "The passages compared" in text


def test_page_says_which_rule_decided_how_and_what_was_changed(operator: Client, decide: Decide) -> None:
    rule_register(document={"name": "own"}, actor="test")
    receipt = decide()
    text = text_of(operator, page_of(receipt))
    assert "The candidate wins, and the existing memory was superseded by it." in text
    assert f"own, version {receipt.rule_version}" in text
    assert "/admin/rules/mergeruleversion/" in text
    assert receipt.reason in text
    assert "did not exist" in text
    for memory in (receipt.candidate, receipt.existing):
        assert address(Memory, "change", memory.pk) in text


def test_page_and_dialogs_name_the_details_that_a_restatement_took_over(operator: Client) -> None:
    for content, fields in (("I like green tea", {"session_id": "s1", "metadata": {"a": 1}}), (TEA_AGAIN, {})):
        draft = MemoryDraft(content, scope=Scope("ana"), **fields)
        result = memory_save(access=ACCESS, draft=draft)
    receipt = Conflict.objects.get(uuid=result.conflict)
    assert "its own metadata, session" in text_of(operator, page_of(receipt))
    for name in ("revert_this", "keep_existing"):
        text = text_of(operator, reverse(f"admin:semantic_conflict_{name}", args=[receipt.pk]))
        sentence = f"The candidate “{TEA_AGAIN}” has its own metadata, session again, except for what was added since."
        assert sentence in text, name


def test_page_shows_memory_that_changed_since(operator: Client, decide: Decide) -> None:
    receipt = decide()
    memory_delete(access=ACCESS, uuid=receipt.existing.uuid)
    assert re.search(r", now</span>\s+<span[^>]*>\s*Deleted", text_of(operator, page_of(receipt)))


def test_page_leads_along_chain_of_receipts(operator: Client, decide: Decide) -> None:
    receipt = decide()
    answer = conflict_override(access=ACCESS, uuid=receipt.uuid, winner=Winner.EXISTING)
    last = conflict_revert(access=ACCESS, uuid=answer.uuid)
    for one in (receipt, answer, last):
        text = text_of(operator, page_of(one))
        assert "(this one)" in text
        assert all(page_of(other) in text for other in (receipt, answer, last) if other != one)


def test_page_lists_further_conflicts_of_candidate(operator: Client, decide: Decide) -> None:
    rule_register(document={"name": "deaf", "priority": 9, "detection": {"act_threshold": 1.0}}, actor="test")
    memory_save(access=ACCESS, draft=MemoryDraft("Ana spent $12 on postcards.", scope=Scope("ana")))
    receipt = decide("Ana spent $15 on postcards.", "Ana spent $19 on postcards.")
    assert len(receipt.others) == 1
    text = text_of(operator, page_of(receipt))
    assert "Further conflicts of the candidate" in text
    assert receipt.others[0]["existing"]["content"] in text


def test_page_is_found_by_id_that_applications_know(operator: Client, decide: Decide) -> None:
    text_of(operator, address(Conflict, "change", decide().uuid))


@pytest.mark.parametrize("wrong", ["999999", "9" * 30, "nothing", str(UUID(int=7))])
def test_a_page_of_no_receipt_leads_back(operator: Client, wrong: str) -> None:
    assert operator.get(address(Conflict, "change", wrong)).status_code == 302


def test_contents_are_shown_as_text(operator: Client, decide: Decide) -> None:
    script = "<script>alert('x')</script>"
    receipt = decide(f"Ana spent $12 on postcards. {script}", f"Ana spent $15 on postcards. {script}")
    for url in (LIST, page_of(receipt)):
        text = text_of(operator, url)
        assert script not in text
        assert "&lt;script&gt;" in text


# Steps


@pytest.mark.parametrize(
    ("name", "standing", "state"),
    [
        ("accept_this", [NOT_LISBON], "accepted"),
        ("keep_existing", [LISBON], "overridden"),
        ("keep_both", [LISBON, NOT_LISBON], "overridden"),
        ("revert_this", [LISBON], "reverted"),
    ],
)
def test_a_person_decides_on_the_page(
    operator: Client, decide: Decide, name: str, standing: list[str], state: str
) -> None:
    receipt = decide()
    step(operator, receipt, name)
    assert active() == standing
    assert state_of(receipt) == state
    assert receipt.reviewed_by == "admin:operator"


def test_a_person_lets_the_candidate_stand(operator: Client, decide: Decide) -> None:
    step(operator, decide("Ana spent $12 on postcards.", "Ana spent $15 on postcards."), "keep_candidate")
    assert active() == ["Ana spent $15 on postcards."]


def test_only_the_steps_that_apply_are_offered(decide: Decide, merged: Conflict) -> None:
    decided = decide(user="ben")
    noticed = decide("Ana spent $12 on postcards.", "Ana spent $15 on postcards.")
    assert allowed_steps(decided) == {"accept", "revert", "existing", "both"}
    assert allowed_steps(noticed) == {"accept", "candidate", "existing"}
    assert allowed_steps(merged) == {"accept", "revert", "candidate", "existing", "both"}
    answer = conflict_revert(access=ACCESS, uuid=decided.uuid)
    decided.refresh_from_db()
    assert allowed_steps(decided) == set()
    assert allowed_steps(answer) == {"revert"}


def test_offered_steps_are_those_that_services_take(decide: Decide) -> None:
    noticed = decide("Ana spent $12 on postcards.", "Ana spent $15 on postcards.")
    overridden = conflict_override(access=ACCESS, uuid=noticed.uuid, winner=Winner.EXISTING)
    assert allowed_steps(overridden) == {"revert", "candidate", "both"}
    conflict_override(access=ACCESS, uuid=overridden.uuid, winner=Winner.CANDIDATE)
    assert active() == ["Ana spent $15 on postcards."]


def test_buttons_of_page_are_those_that_apply(operator: Client, decide: Decide) -> None:
    receipt = decide()
    text = text_of(operator, page_of(receipt))
    urls = {name: reverse(f"admin:semantic_conflict_{name}", args=[receipt.pk]) for name in (
        "accept_this", "keep_candidate", "keep_existing", "keep_both", "revert_this",
    )}  # fmt: skip
    assert {name for name, url in urls.items() if url in text} == set(urls) - {"keep_candidate"}


def test_a_dialog_says_what_its_step_would_do(operator: Client, decide: Decide) -> None:
    receipt = decide()
    said = {
        name: text_of(operator, reverse(f"admin:semantic_conflict_{name}", args=[receipt.pk]))
        for name in ("accept_this", "keep_existing", "revert_this")
    }
    assert "The memories do not change." in said["accept_this"]
    assert f"The existing memory “{LISBON}” is active." in said["keep_existing"]
    assert f"The candidate “{NOT_LISBON}” is superseded." in said["keep_existing"]
    assert f"The existing memory “{LISBON}” is active again, exactly as before." in said["revert_this"]
    assert f"The candidate “{NOT_LISBON}” is deleted, and can be restored." in said["revert_this"]


def test_dialog_tells_of_all_that_is_undone_when_override_is_overridden(operator: Client, merged: Conflict) -> None:
    answer = conflict_override(access=ACCESS, uuid=merged.uuid, winner=Winner.EXISTING)
    conflict_revert(access=ACCESS, uuid=answer.uuid)
    merged.refresh_from_db()
    url = reverse("admin:semantic_conflict_keep_candidate", args=[merged.pk])
    assert "is deleted, and can be restored" in text_of(operator, url)
    answer = conflict_override(access=ACCESS, uuid=merged.uuid, winner=Winner.EXISTING)
    url = reverse("admin:semantic_conflict_keep_candidate", args=[answer.pk])
    text = text_of(operator, url)
    assert "is deleted" not in text  # it is already
    assert f"The existing memory “{BREAD}” is superseded." in text


def test_a_dialog_warns_of_what_changed_since(operator: Client, decide: Decide) -> None:
    receipt = decide()
    memory_delete(access=ACCESS, uuid=receipt.existing.uuid)
    text = text_of(operator, reverse("admin:semantic_conflict_revert_this", args=[receipt.pk]))
    assert "Changed since the decision: the existing memory" in text


def test_a_refusal_is_shown_with_its_reason(operator: Client, decide: Decide) -> None:
    receipt = decide()
    memory_delete(access=ACCESS, uuid=receipt.existing.uuid)
    assert "restore it first" in step(operator, receipt, "revert_this").content.decode()
    assert state_of(receipt) == "open"


def test_looking_at_a_dialog_changes_nothing(operator: Client, decide: Decide) -> None:
    receipt = decide()
    operator.get(reverse("admin:semantic_conflict_revert_this", args=[receipt.pk]))
    assert state_of(receipt) == "open"


# Who may do what


def test_who_may_only_look_at_receipts_sees_no_contents(staff: Callable[..., Client], decide: Decide) -> None:
    receipt = decide()
    client = staff("view_conflict")
    for url in (LIST, page_of(receipt)):
        text = text_of(client, url)
        assert "Lisbon" not in text
        assert str(receipt.uuid) in text


def test_who_may_not_see_contents_cannot_search_them(staff: Callable[..., Client], decide: Decide) -> None:
    receipt = decide()
    client = staff("view_conflict")
    assert listed(client, q="Lisbon") == set()
    assert listed(client, q=str(receipt.uuid)) == {receipt.pk}


def test_dialogs_hide_contents_as_well(staff: Callable[..., Client], decide: Decide) -> None:
    receipt = decide()
    client = staff("view_conflict", "change_conflict")
    text = text_of(client, reverse("admin:semantic_conflict_revert_this", args=[receipt.pk]))
    assert "The existing memory is active again" in text
    assert "Lisbon" not in text


def test_who_may_only_look_changes_nothing(staff: Callable[..., Client], decide: Decide) -> None:
    receipt = decide()
    client = staff("view_conflict", "view_memory")
    assert step(client, receipt, "revert_this").status_code == 403
    run(client, "revert_chosen", [receipt], confirmed="yes")
    assert client.get(MANY).status_code == client.post(MANY).status_code == 403
    assert state_of(receipt) == "open"
    assert "Keep existing" not in text_of(client, page_of(receipt))


def test_who_may_change_receipts_can_revert(staff: Callable[..., Client], decide: Decide) -> None:
    receipt = decide()
    step(staff("view_conflict", "change_conflict"), receipt, "revert_this")
    assert state_of(receipt) == "reverted"


def test_receipts_are_not_written_by_hand(operator: Client, decide: Decide) -> None:
    receipt = decide()
    assert operator.post(page_of(receipt), {"state": "accepted"}).status_code == 403
    assert operator.post(address(Conflict, "delete", receipt.pk), {"post": "yes"}).status_code == 403
    assert state_of(receipt) == "open"


def test_a_forged_form_is_refused(decide: Decide) -> None:
    receipt = decide()
    client = Client(enforce_csrf_checks=True)
    assert step(client, receipt, "revert_this").status_code == 403
    assert client.post(MANY, {"token": "x"}).status_code == 403


# Reverting many


def preview(client: Client, **fields: str) -> Any:
    response = client.get(MANY, {"user_id": "", **fields})
    assert response.status_code == 200
    return response


def test_the_choice_offers_the_rules_that_decided(operator: Client, decide: Decide) -> None:
    version = decide().rule_version
    text = text_of(operator, MANY)
    assert "default, all versions" in text
    assert f"default, version {version}" in text


def test_looking_shows_what_would_be_reverted_and_reverts_nothing(operator: Client, decide: Decide) -> None:
    receipt = decide()
    text = preview(operator, rule=":default").content.decode()
    assert "1 decision in force" in text
    assert NOT_LISBON in text
    assert state_of(receipt) == "open"


def test_a_choice_of_nothing_is_refused(operator: Client, decide: Decide) -> None:
    decide()
    response = preview(operator, rule="")
    assert "Choose a rule or a time range." in response.content.decode()
    assert "token" not in response.context


def test_what_was_accepted_is_counted_and_stays_unless_asked_for(operator: Client, decide: Decide) -> None:
    accepted, _ = decide(user="ana"), decide(user="ben")
    conflict_accept(access=ACCESS, uuid=accepted.uuid)
    context = preview(operator, rule=":default").context
    assert (context["in_force"], context["accepted"], context["count"]) == (2, 1, 1)
    assert preview(operator, rule=":default", with_accepted="on").context["count"] == 2


def test_the_confirmed_selection_is_reverted(operator: Client, decide: Decide) -> None:
    chosen, other = decide(user="ana"), decide(user="ben")
    version = str(chosen.rule_version)
    token = preview(operator, rule=f"{version}:default", user_id="ana").context["token"]
    response = operator.post(MANY, {"token": token}, follow=True)
    assert "1 decision reverted." in response.content.decode()
    assert (state_of(chosen), state_of(other)) == ("reverted", "open")


def test_a_span_of_time_is_reverted(operator: Client, decide: Decide) -> None:
    receipt = decide()
    tomorrow = datetime.now(UTC) + timedelta(days=2)
    span = {"since_0": "2020-01-01", "since_1": "00:00:00", "until_0": f"{tomorrow:%Y-%m-%d}", "until_1": "00:00:00"}
    operator.post(MANY, {"token": preview(operator, **span).context["token"]})
    assert state_of(receipt) == "reverted"


def test_what_was_decided_after_looking_is_left_alone(operator: Client, decide: Decide) -> None:
    decide(user="ana")
    token = preview(operator, rule=":default").context["token"]
    later = decide(user="ben")
    operator.post(MANY, {"token": token})
    assert state_of(later) == "open"


def test_refusals_are_named_with_their_reason(operator: Client, decide: Decide) -> None:
    receipt = decide()
    memory_delete(access=ACCESS, uuid=receipt.existing.uuid)
    response = operator.post(MANY, {"token": preview(operator, rule=":default").context["token"]}, follow=True)
    text = response.content.decode()
    assert "restore it first" in text
    assert "0 decisions reverted." in text


def test_what_page_did_not_offer_is_not_reverted(operator: Client, decide: Decide) -> None:
    receipt = decide()
    response = operator.post(MANY, {"token": '{"rule_name": "default"}'}, follow=True)
    assert "Choose the decisions again" in response.content.decode()
    assert state_of(receipt) == "open"


def test_more_than_page_is_reverted_in_background(
    operator: Client, decide: Decide, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.semantic.admin.bulk_revert.AT_ONCE", 1)
    assert AT_ONCE > 1
    receipts = [decide(user="ana"), decide(user="ben")]
    OrmQ.objects.all().delete()
    token = preview(operator, rule=":default").context["token"]
    response = operator.post(MANY, {"token": token}, follow=True)
    text = response.content.decode()
    assert "Reverting in the background" in text
    assert 'hx-trigger="every 3s"' in text
    assert "<dt>Still in force</dt><dd>2</dd>" in text
    assert [state_of(receipt) for receipt in receipts] == ["open", "open"]
    assert [task.func() for task in OrmQ.objects.all()] == [TASK]


def test_run_in_background_goes_on_to_its_end(
    operator: Client, decide: Decide, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.semantic.admin.bulk_revert.AT_ONCE", 1)
    monkeypatch.setattr("apps.semantic.conflicts.bulk_revert.MAX_REVERTS", 1)
    stuck, *others = [decide(user=user) for user in ("ana", "ben", "cleo")]
    memory_delete(access=ACCESS, uuid=stuck.existing.uuid)
    monkeypatch.setattr(Conf, "SYNC", True)  # the worker's own code, without its process
    response = operator.post(MANY, {"token": preview(operator, rule=":default").context["token"]}, follow=True)
    status = response.context["run"]
    assert (status.reverted, status.refused, status.finished, status.failed) == (2, 1, True, False)
    assert str(stuck.uuid) in response.content.decode()
    assert [state_of(receipt) for receipt in (stuck, *others)] == ["open", "reverted", "reverted"]


def test_progress_of_run_ends_with_what_was_refused(operator: Client, decide: Decide) -> None:
    receipt, number = decide(), uuid4()
    now = datetime.now(UTC)
    result = {"reverted": 60, "refused": 1, "reasons": [(str(receipt.uuid), "because")], "finished": True}
    Task.objects.create(
        id=uuid4().hex, name="part", func=TASK, group=f"revert {number}", started=now, stopped=now, result=result
    )  # fmt: skip
    text = text_of(operator, MANY, run=str(number), of="forged")
    assert "Done" in text
    assert "because" in text
    assert 'hx-trigger="every' not in text


# Ways to get here


def test_the_navigation_tells_how_many_wait(operator: Client, decide: Decide) -> None:
    decide()
    text = text_of(operator, reverse("admin:index"))
    assert "Conflicts to review" in text
    assert re.search(rf'href="{LIST}".*?>\s*1\s*<', text, re.DOTALL)


def test_the_overview_shows_every_status(operator: Client, remember: Callable[..., Memory]) -> None:
    Memory.objects.filter(pk=remember("Ana drinks tea").pk).update(status="rejected")
    assert "Rejected" in text_of(operator, reverse("admin:index"))


def test_page_of_memory_leads_to_its_receipts(operator: Client, decide: Decide) -> None:
    receipt = decide()
    text = text_of(operator, address(Memory, "change", receipt.existing.pk))
    assert f"?state=all&amp;q={receipt.existing.uuid}" in text
    assert address(Conflict, "change", receipt.uuid) in text


def test_a_rejected_memory_has_a_page(operator: Client, remember: Callable[..., Memory]) -> None:
    memory = remember("Ana drinks tea")
    Memory.objects.filter(pk=memory.pk).update(status="rejected")
    assert "Rejected" in text_of(operator, address(Memory, "change", memory.pk))
