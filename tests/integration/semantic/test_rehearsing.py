"""Rehearsing a change of a rule: issue "Rehearsal", DESIGN section 5."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from apps.core.domain.errors import InvalidInputError, NotFoundError
from apps.core.domain.scope import Access, Permission, Scope, system_access
from apps.rules.domain.documents.problems import InvalidRuleError
from apps.rules.services import rule_register, rule_update
from apps.semantic.conflicts.rehearsal import Rehearsal, ReplayReport, rehearse, rehearse_document
from apps.semantic.consolidation.run import RunLimits
from apps.semantic.consolidation.services import consolidation_for, consolidation_run
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.index.cache import index_cache
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import Conflict, ConsolidationMode, Memory
from apps.semantic.services import memory_delete, memory_save, memory_save_many
from tests.effort import examples
from tests.hostile.support import stored

pytestmark = pytest.mark.django_db

Save = Callable[..., SaveResult]
THEN = datetime(2026, 3, 1, tzinfo=UTC)
KEEP_OLD = {"arbitration": {"priority_recency": False, "priority_source": False, "default_strategy": "keep-existing"}}
# Whatever is alike is noticed, and nothing is strong enough to act on.
NEVER_ACT = {"detection": {"contradiction_threshold": 1.0, "restate_threshold": 1.0, "semantic_threshold": 0.0}}
BLIND = {"detection": {"contradiction_threshold": 1.0, "keyword_threshold": 1.0, "semantic_threshold": 1.0}}
LOOSE = {"keyword_threshold": 0.6, "restate_threshold": 0.6}
MERGING = {
    "detection": LOOSE,
    "arbitration": {"priority_recency": False},
    "merge": {"content_strategy": "concatenate", "deduplicate": False},
}
BREAD = (
    "Ana bakes rye bread with caraway seeds every Sunday.",
    "Ana bakes rye bread with caraway seeds every Sunday morning!",
)


@pytest.fixture
def save(access: Access) -> Save:
    def save(content: str, **fields: Any) -> SaveResult:
        scope = fields.pop("scope", Scope("ana"))
        return memory_save(access=access, draft=MemoryDraft(content, scope=scope, **fields))

    return save


def move(save: Save, **fields: Any) -> SaveResult:
    """Somebody moves: the second statement supersedes the first under the default rule."""
    save("Ana lives in Lisbon.", **fields)
    return save("Ana does not live in Lisbon.", **fields)


def postcards(save: Save, **fields: Any) -> SaveResult:
    """A number changes."""
    save("Ana owns 12 postcards.", **fields)
    return save("Ana owns 15 postcards.", **fields)


def transitions(replayed: ReplayReport) -> dict[str, int]:
    return {f"{before} -> {after}": count for (before, after), count in replayed.tally.transitions.items()}


def neighbours_of(rehearsal: Rehearsal) -> ReplayReport:
    assert rehearsal.neighbours is not None
    return rehearsal.neighbours


# --- recorded decisions -----------------------------------------------------------------------------


def test_without_changes_every_decision_comes_to_what_it_came_to(access: Access, save: Save) -> None:
    move(save)
    postcards(save)
    tally = rehearse(access, "default").decisions.tally
    assert (tally.replayed, tally.differ, tally.rules) == (2, 0, {"default": 2})


def test_change_that_only_notices_says_which_decisions_would_be_none(access: Access, save: Save) -> None:
    receipt = move(save).conflict
    decisions = rehearse(access, "default", NEVER_ACT).decisions
    assert transitions(decisions) == {"superseded_existing -> noticed": 1}
    [difference] = decisions.differences
    assert difference.receipt is not None
    assert difference.receipt.uuid == receipt
    assert difference.is_due_to_change
    assert "too weak" in difference.changed.reason


def test_change_that_sees_nothing_says_that_there_would_be_no_conflict(access: Access, save: Save) -> None:
    move(save)
    assert transitions(rehearse(access, "default", BLIND).decisions) == {"superseded_existing -> no_conflict": 1}


def test_change_that_lets_another_memory_win_says_which_one_would_stand(access: Access, save: Save) -> None:
    result = move(save, importance=0.5, occurred_at=THEN)
    receipt = Conflict.objects.get(uuid=result.conflict)
    [difference] = rehearse(access, "default", KEEP_OLD).decisions.differences
    assert difference.before.outcome == "superseded_existing"
    assert difference.changed.outcome == "kept_existing"
    assert difference.changed.removed == {str(receipt.candidate.uuid)}


def test_a_merge_with_another_text_differs(access: Access, save: Save) -> None:
    rule_register(document={"name": "mine", "priority": 5, **MERGING}, actor="test")
    assert [save(content).action for content in BREAD] == ["inserted", "merged"]
    assert rehearse(access, "mine").decisions.tally.differ == 0
    decisions = rehearse(access, "mine", {"merge": {"content_strategy": "replace"}}).decisions
    assert transitions(decisions) == {"merged -> merged": 1}
    [difference] = decisions.differences
    assert (difference.before.merged, difference.changed.merged) == ("\n".join(BREAD), BREAD[1])


def test_merge_that_would_be_too_long_is_replayed_as_it_was_decided(access: Access, save: Save, settings: Any) -> None:
    rule_register(document={"name": "mine", "priority": 5, **MERGING}, actor="test")
    settings.MEMORYHUB = replace(settings.MEMORYHUB, max_content_chars=100)
    assert [save(content).action for content in BREAD] == ["inserted", "inserted"]
    assert Conflict.objects.get().outcome == "noticed"
    decisions = rehearse(access, "mine").decisions
    assert (decisions.tally.replayed, decisions.tally.differ) == (1, 0)
    settings.MEMORYHUB = replace(settings.MEMORYHUB, max_content_chars=1_000)
    assert transitions(rehearse(access, "mine").decisions) == {"noticed -> merged": 1}


def test_decision_about_several_memories_is_replayed_with_all_of_them(access: Access, save: Save) -> None:
    rule_register(document={"name": "mine", "priority": 5, **NEVER_ACT}, actor="test")
    save("Ana lives in Lisbon.")
    save("Ana lives in Lisbon now.")
    rule_update(name="mine", changes={"enabled": False}, actor="test")
    receipt = Conflict.objects.get(uuid=save("Ana does not live in Lisbon.").conflict)
    assert [other["applied"] for other in receipt.others] == [True]
    assert rehearse(access, "default", limit=1).decisions.tally.differ == 0
    [difference] = rehearse(access, "default", NEVER_ACT, limit=1).decisions.differences
    assert len(difference.case.partners) == 2
    assert len(difference.before.removed) == 2
    assert difference.changed.removed == frozenset()


def test_difference_that_was_there_before_is_not_due_to_change(access: Access, save: Save) -> None:
    move(save)
    rule_update(name="default", changes=NEVER_ACT, actor="test")
    tally = rehearse(access, "default", {"priority": 3}).decisions.tally
    assert (tally.differ, tally.due_to_change) == (1, 0)


def test_a_null_makes_a_setting_inherit_again(access: Access, save: Save) -> None:
    move(save)
    rule_update(name="default", changes=NEVER_ACT, actor="test")
    assert rehearse(access, "default").decisions.tally.differ == 1
    assert rehearse(access, "default", {"detection": None}).decisions.tally.differ == 0


def test_heirs_of_the_rule_change_with_it(access: Access, save: Save) -> None:
    rule_register(document={"name": "heir", "extends": "default", "priority": 5}, actor="test")
    move(save)
    rehearsal = rehearse(access, "default", NEVER_ACT)
    assert {"default", "heir", "inferred"} == set(rehearsal.changed_rules)
    assert rehearsal.decisions.tally.rules == {"heir": 1}
    assert transitions(rehearsal.decisions) == {"superseded_existing -> noticed": 1}


def test_changed_conditions_change_which_rule_matches(access: Access, save: Save) -> None:
    rule_register(document={"name": "mine", "priority": 5, "conditions": {"user_id": "ben"}, **NEVER_ACT}, actor="test")
    move(save)
    assert rehearse(access, "mine").decisions.tally.rules == {"default": 1}
    decisions = rehearse(access, "mine", {"conditions": {"user_id": "ana"}}).decisions
    assert decisions.tally.rules == {"mine": 1}
    assert decisions.tally.due_to_change == 1


def test_whole_document_is_rehearsed_as_it_would_replace_rule(access: Access, save: Save) -> None:
    rule_update(name="default", changes=NEVER_ACT, actor="test")
    move(save)
    decisions = rehearse_document(access, {"name": "default"}).decisions
    assert transitions(decisions) == {"noticed -> superseded_existing": 1}


def test_newest_decisions_are_replayed_up_to_limit(access: Access, save: Save) -> None:
    move(save)
    newest = postcards(save).conflict
    decisions = rehearse(access, "default", BLIND, limit=1).decisions
    assert [one.receipt.uuid for one in decisions.differences if one.receipt] == [newest]
    assert not decisions.is_complete
    assert rehearse(access, "default", BLIND, limit=2).decisions.is_complete


def test_only_decisions_of_the_scope_are_replayed(access: Access, save: Save) -> None:
    move(save)
    move(save, scope=Scope("ben", "home"))
    assert rehearse(access, "default", scope=Scope("ben")).decisions.tally.replayed == 1
    assert rehearse(access, "default", scope=Scope(household_id="away")).decisions.tally.replayed == 0


def test_key_sees_only_decisions_inside_its_bound(ana: Access, save: Save) -> None:
    move(save, scope=Scope("ben"))
    assert rehearse(ana, "default", BLIND).decisions.tally.replayed == 0
    assert rehearse(ana, "default", BLIND, scope=Scope("ben")).decisions.tally.replayed == 0


def test_decisions_of_people_are_not_replayed(access: Access, save: Save) -> None:
    move(save)
    Conflict.objects.update(origin="override")
    assert rehearse(access, "default", BLIND).decisions.tally.replayed == 0


def test_a_rehearsal_changes_nothing(access: Access, save: Save) -> None:
    move(save)
    postcards(save, scope=Scope("ana", "home"))
    save("Ana owns 12 old postcards.")
    before = stored()
    rehearse(access, "default", BLIND, scope=Scope("ana"), include_neighbours=True)
    rehearse_document(access, {"name": "default", **NEVER_ACT})
    assert stored() == before


def test_rehearsing_in_empty_hub_writes_nothing_either(access: Access) -> None:
    before = stored()
    rehearsal = rehearse(access, "default", BLIND, scope=Scope("ana"), include_neighbours=True)
    assert (rehearsal.decisions.tally.replayed, neighbours_of(rehearsal).tally.replayed) == (0, 0)
    assert stored() == before


def test_decisions_are_read_few_at_time_and_none_is_missed(
    access: Access, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.semantic.conflicts.rehearsal._CHUNK", 2)
    for user in ("ana", "ben", "cem"):
        move(save, scope=Scope(user))
    for limit, replayed in ((1, 1), (2, 2), (3, 3), (4, 3)):
        assert rehearse(access, "default", limit=limit).decisions.tally.replayed == replayed


# --- what consolidation decided -----------------------------------------------------------------------


def consolidate(mode: str) -> Conflict:
    consolidation = consolidation_for(scope=Scope("ana"), mode=ConsolidationMode(mode))
    consolidation_run(pk=consolidation.pk, limits=RunLimits(memories=None, decisions=None, seconds=None))
    return Conflict.objects.get()


@pytest.mark.parametrize(("mode", "outcome"), [("decide", "superseded_existing"), ("notice", "noticed")])
def test_what_consolidation_decided_is_replayed_as_its_rule_said(
    access: Access, save: Save, mode: str, outcome: str
) -> None:
    quiet(save, "Ana lives in Lisbon.", "Ana does not live in Lisbon.")
    assert consolidate(mode).outcome == outcome
    assert rehearse(access, "default").decisions.tally.differ == 0
    decisions = rehearse(access, "default", BLIND).decisions
    assert transitions(decisions) == {"superseded_existing -> no_conflict": 1}
    rule_update(name="default", changes=BLIND, actor="test")
    tally = rehearse(access, "default").decisions.tally
    assert (tally.differ, tally.due_to_change) == (1, 0)


# --- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"arbitration": {"merge_threshold": 2}}, "arbitration.merge_threshold"),
        ({"merge": {"content_strategy": "shuffle"}}, "merge.content_strategy"),
        ({"arbitration": {"weights": dict.fromkeys(("importance", "recency", "source", "semantic"), 0)}},
         "arbitration.weights"),
        ({"extends": "nobody"}, "extends"),
        ({"extends": "mine"}, "extends"),
        ({"nonsense": 1}, "nonsense"),
        ({"name": "other"}, "name"),
        ([], ""),
    ],
)  # fmt: skip
def test_bad_changes_are_refused_as_saving_them_would_be(access: Access, changes: Any, path: str) -> None:
    rule_register(document={"name": "mine"}, actor="test")
    with pytest.raises(InvalidRuleError) as rehearsed:
        rehearse(access, "mine", changes)
    assert rehearsed.value.problems[0].path == path
    with pytest.raises(InvalidRuleError) as saved:
        rule_update(name="mine", changes=changes, actor="test")
    assert rehearsed.value.problems == saved.value.problems


def test_changes_that_would_break_heir_are_refused(access: Access) -> None:
    rule_register(document={"name": "base"}, actor="test")
    rule_register(
        document={"name": "leaf", "extends": "base", "conditions": {"importance_range": {"max": 0.2}}}, actor="test"
    )
    with pytest.raises(InvalidRuleError, match="leaf"):
        rehearse(access, "base", {"conditions": {"importance_range": {"min": 0.5}}})


def test_a_rule_that_does_not_exist_is_not_found(access: Access) -> None:
    with pytest.raises(NotFoundError):
        rehearse(access, "nobody")


def test_a_key_learns_nothing_of_rules_of_others(ana: Access) -> None:
    rule_register(document={"name": "bens", "extends": "default", "conditions": {"user_id": "ben"}}, actor="test")
    rule_register(document={"name": "mine", "conditions": {"user_id": "ana"}}, actor="test")
    with pytest.raises(NotFoundError):
        rehearse(ana, "bens", {})
    with pytest.raises(InvalidRuleError, match="There is no rule 'bens'"):
        rehearse(ana, "mine", {"extends": "bens"})


def test_rule_of_others_that_would_break_is_not_told_of(ana: Access) -> None:
    narrow = {"user_id": "ben", "importance_range": {"max": 0.2}}
    rule_register(document={"name": "base"}, actor="test")
    rule_register(document={"name": "bens", "extends": "base", "conditions": narrow}, actor="test")
    rehearse(ana, "base", {"conditions": {"importance_range": {"min": 0.5}}})


# --- near neighbours ----------------------------------------------------------------------------------


def quiet(save: Save, *contents: str, scope: Scope | None = None) -> None:
    """Save memories under a rule that sees nothing, so that they leave no receipts."""
    rule_register(document={"name": "quiet", "priority": 9, **BLIND}, actor="test")
    for content in contents:
        save(content, scope=scope or Scope("ana"))
    rule_update(name="quiet", changes={"enabled": False}, actor="test")


def test_neighbours_that_change_would_act_on_are_found(access: Access, save: Save) -> None:
    rule_update(name="default", changes=BLIND, actor="test")
    save("Ana lives in Lisbon.")
    save("Ana does not live in Lisbon.")
    save("The kettle is in the kitchen.")
    looser = {"detection": {"contradiction_threshold": None}}
    neighbours = neighbours_of(rehearse(access, "default", looser, scope=Scope("ana"), include_neighbours=True))
    assert transitions(neighbours) == {"no_conflict -> superseded_existing": 1}
    [difference] = neighbours.differences
    assert difference.case.candidate.content == "Ana does not live in Lisbon."
    assert [partner.content for partner in difference.case.partners] == ["Ana lives in Lisbon."]


def test_pair_of_neighbours_is_compared_once_older_as_existing_one(access: Access, save: Save) -> None:
    quiet(save, *(f"Ana owns {number} postcards." for number in (3, 5, 8)))
    neighbours = neighbours_of(rehearse(access, "default", BLIND, scope=Scope("ana"), include_neighbours=True))
    pairs = [(one.case.candidate.content, one.case.partners[0].content) for one in neighbours.differences]
    assert [tuple(int(text.split()[2]) for text in pair) for pair in pairs] == [(8, 5), (8, 3), (5, 3)]
    assert neighbours.tally.replayed == 3


def test_neighbours_of_another_exact_scope_are_not_compared(access: Access, save: Save) -> None:
    quiet(save, "Ana lives in Lisbon.")
    save("Ana does not live in Lisbon.", scope=Scope("ana", "home"))
    save("Ana does not live in Lisbon.", scope=Scope("ben"))
    rehearsal = rehearse(access, "default", BLIND, scope=Scope("ana"), include_neighbours=True)
    assert neighbours_of(rehearsal).tally.replayed == 0


def test_neighbours_outside_household_that_is_asked_for_are_left_out(access: Access, save: Save) -> None:
    quiet(save, "Ana lives in Lisbon.", "Ana does not live in Lisbon.", scope=Scope("ana", "home"))
    for household, compared in (("home", 1), ("away", 0), (None, 1)):
        rehearsal = rehearse(access, "default", scope=Scope("ana", household), include_neighbours=True)
        assert neighbours_of(rehearsal).tally.replayed == compared


def test_pair_with_receipt_is_left_out_of_neighbours(access: Access, save: Save) -> None:
    rule_update(name="default", changes=NEVER_ACT, actor="test")
    assert move(save).conflict
    rehearsal = rehearse(access, "default", BLIND, scope=Scope("ana"), include_neighbours=True)
    assert (rehearsal.decisions.tally.replayed, neighbours_of(rehearsal).tally.replayed) == (1, 0)


def test_memories_that_do_not_stand_are_no_neighbours(access: Access, save: Save) -> None:
    quiet(save, "Ana lives in Lisbon.", "Ana does not live in Lisbon.")
    memory_delete(access=access, uuid=Memory.objects.get(content="Ana lives in Lisbon.").uuid)
    rehearsal = rehearse(access, "default", BLIND, scope=Scope("ana"), include_neighbours=True)
    assert neighbours_of(rehearsal).tally.replayed == 0


@pytest.mark.parametrize(("most", "compared", "complete"), [(1, 1, False), (2, 2, False), (3, 3, True), (9, 3, True)])
def test_the_bound_on_pairs_is_kept_and_told(
    access: Access, save: Save, most: int, compared: int, complete: bool
) -> None:
    quiet(save, *(f"Ana owns {number} postcards." for number in (3, 5, 8)))
    rehearsal = rehearse(access, "default", scope=Scope("ana"), include_neighbours=True, max_pairs=most)
    neighbours = neighbours_of(rehearsal)
    assert (neighbours.tally.replayed, neighbours.is_complete) == (compared, complete)


def test_neighbours_need_a_user(access: Access) -> None:
    with pytest.raises(InvalidInputError) as refused:
        rehearse(access, "default", include_neighbours=True)
    assert refused.value.attr == "user_id"


def test_a_key_of_a_user_need_not_name_it(ana: Access, save: Save) -> None:
    quiet(save, "Ana lives in Lisbon.", "Ana does not live in Lisbon.")
    assert neighbours_of(rehearse(ana, "default", include_neighbours=True)).tally.replayed == 1


def test_neighbours_outside_bound_are_not_seen(save: Save) -> None:
    quiet(save, "Ben lives in Lisbon.", "Ben does not live in Lisbon.", scope=Scope("ben", "away"))
    for bound in (Scope("ana"), Scope(household_id="home")):
        access = Access(bound, Permission.READ, "key")
        rehearsal = rehearse(access, "default", BLIND, scope=Scope("ben"), include_neighbours=True)
        assert neighbours_of(rehearsal).tally.replayed == 0


# --- whatever was saved -------------------------------------------------------------------------------

SUBJECTS = ("Ana", "Ben")
TEMPLATES = (
    "{} lives in Lisbon{}.", "{} does not live in Lisbon{}.", "{} lives in Porto{}.", "{} owns 12 postcards{}.",
    "{} owns 15 postcards{}.", "{} bakes rye bread every Sunday{}.", "{} bakes rye bread on Sundays{}.",
)  # fmt: skip
ENDINGS = ("", " now", " again", " with a friend from school")
STATEMENTS = st.builds(
    lambda template, subject, ending: template.format(subject, ending),
    st.sampled_from(TEMPLATES),
    st.sampled_from(SUBJECTS),
    st.sampled_from(ENDINGS),
)
DRAFTS = st.lists(
    st.fixed_dictionaries(
        {
            "content": STATEMENTS,
            "importance": st.sampled_from([None, 0.1, 0.3, 0.9]),
            "source": st.sampled_from(["user", "inferred", "skill", ""]),
            "occurred_at": st.sampled_from([None, *(THEN + timedelta(days=days) for days in (0, 1, 30))]),
        }
    ),
    min_size=2,
    max_size=8,
)
RULES = st.fixed_dictionaries(
    {
        "detection": st.sampled_from([{}, LOOSE, {"contradiction_threshold": 0.2, "semantic_threshold": 0.3}]),
        "arbitration": st.fixed_dictionaries(
            {
                "priority_recency": st.booleans(),
                "priority_source": st.booleans(),
                "merge_contradictions": st.booleans(),
                "act_on_weak_evidence": st.booleans(),
                "default_strategy": st.sampled_from(["keep-candidate", "keep-existing", "reject"]),
            }
        ),
        "merge": st.fixed_dictionaries(
            {"content_strategy": st.sampled_from(["concatenate", "replace", "summarize", "smart"])}
        ),
    }
)
NUMBERS = count()


@hypothesis_settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(drafts=DRAFTS, document=RULES, together=st.booleans())
def test_right_after_decisions_nothing_differs_whatever_was_saved(
    drafts: list[dict[str, Any]], document: dict[str, Any], together: bool
) -> None:
    user, access = f"user{next(NUMBERS)}", system_access("test")
    index_cache().clear()
    rule_register(document={"name": user, "priority": 5, "conditions": {"user_id": user}, **document}, actor="test")
    ready = [MemoryDraft(draft.pop("content"), scope=Scope(user), **draft) for draft in map(dict, drafts)]
    for some in [ready] if together else [[draft] for draft in ready]:
        memory_save_many(access=access, drafts=some)
    rehearsal = rehearse(access, user, scope=Scope(user))
    assert rehearsal.decisions.tally.replayed == Conflict.objects.filter(user_id=user).count()
    assert rehearsal.decisions.differences == []


def test_rule_about_household_is_rehearsed_on_its_receipts(save: Save) -> None:
    for household in ("home", "away"):
        move(save, scope=Scope("ana", household), importance=0.5, occurred_at=THEN)
    rule_register(document={"name": "home", "conditions": {"household_id": "home"}, "priority": 5}, actor="test")
    [difference] = rehearse(system_access(), "home", KEEP_OLD).decisions.differences
    assert difference.changed.rule == "home"
