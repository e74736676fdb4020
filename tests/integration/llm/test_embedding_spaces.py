import threading

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from apps.core.domain.clock import DeterministicClock, utcnow
from apps.llm.domain.embedder import EmbeddingError, EmbeddingSpaceId
from apps.llm.embedding.hashing import HashingEmbedder
from apps.llm.models import EmbeddingSpace
from apps.llm.selectors import active_space
from apps.llm.services import EmbeddingSpaceMismatchError, ensure_space, space_activate, space_get_or_create

pytestmark = pytest.mark.django_db

CLOCK = DeterministicClock(1_780_000_000_000)
OLD, NEW = EmbeddingSpaceId("old-model", 384), EmbeddingSpaceId("new-model", 768)


def active(space_id: EmbeddingSpaceId) -> EmbeddingSpace:
    return space_activate(space=space_get_or_create(space_id, clock=CLOCK), clock=CLOCK)


def test_there_is_no_active_space_before_first_start():
    assert active_space() is None


def test_first_embedder_makes_its_space_active_one():
    space = ensure_space(HashingEmbedder(), clock=CLOCK)
    assert active_space() == space
    assert space.space_id == HashingEmbedder().space
    assert space.created_at == space.activated_at == utcnow(CLOCK)


def test_the_same_embedder_finds_its_space_again():
    first = ensure_space(HashingEmbedder(), clock=CLOCK)
    assert ensure_space(HashingEmbedder(), clock=DeterministicClock(0)) == first
    assert EmbeddingSpace.objects.count() == 1


@pytest.mark.parametrize("stored", [EmbeddingSpaceId("other", 384), EmbeddingSpaceId("hashing/v1", 100)])
def test_another_model_or_dimension_is_refused_with_both_and_command(stored):
    active(stored)
    with pytest.raises(EmbeddingSpaceMismatchError) as caught:
        ensure_space(HashingEmbedder())
    text = str(caught.value)
    assert f"{stored.model} ({stored.dimension} dimensions)" in text
    assert "hashing/v1 (384 dimensions)" in text
    assert "manage.py reembed" in text
    assert isinstance(caught.value, EmbeddingError)


def test_refused_embedder_leaves_no_space_behind():
    active(OLD)
    with pytest.raises(EmbeddingSpaceMismatchError):
        ensure_space(HashingEmbedder())
    assert [space.space_id for space in EmbeddingSpace.objects.all()] == [OLD]


def test_space_that_was_only_registered_is_not_active():
    space_get_or_create(OLD, clock=CLOCK)
    assert active_space() is None


def test_the_same_space_is_registered_once():
    assert space_get_or_create(OLD, clock=CLOCK) == space_get_or_create(OLD, clock=CLOCK)
    assert space_get_or_create(OLD, clock=CLOCK) != space_get_or_create(NEW, clock=CLOCK)


def test_activating_space_puts_one_before_out_of_use():
    active(OLD)
    new = active(NEW)
    assert active_space() == new
    assert list(EmbeddingSpace.objects.filter(is_active=False).values_list("model", flat=True)) == ["old-model"]


def test_activating_brings_given_object_up_to_date():
    space = space_get_or_create(OLD, clock=CLOCK)
    space_activate(space=space, clock=CLOCK)
    assert space.is_active


def test_activating_active_space_keeps_time_since_when():
    space = active(OLD)
    later = space_activate(space=space, clock=DeterministicClock(1_790_000_000_000))
    assert later.activated_at == utcnow(CLOCK)


def test_activating_space_that_is_gone_keeps_present_one():
    active(OLD)
    gone = space_get_or_create(NEW, clock=CLOCK)
    EmbeddingSpace.objects.filter(pk=gone.pk).delete()
    with pytest.raises(EmbeddingSpace.DoesNotExist):
        space_activate(space=gone, clock=CLOCK)
    assert active_space().space_id == OLD


@pytest.mark.parametrize(
    ("constraint", "values"),
    [
        ("llm_space_one_active", {"is_active": True, "activated_at": timezone.now()}),
        ("llm_space_model_dimension", {"model": "old-model", "dimension": 384}),
        ("llm_space_dimension_positive", {"dimension": 0}),
        ("llm_space_active_since", {"is_active": True}),
    ],
)
def test_the_database_refuses_what_must_not_be(constraint, values):
    active(OLD)
    if constraint == "llm_space_active_since":
        EmbeddingSpace.objects.update(is_active=False)
    row = {"model": "another", "dimension": 10, "created_at": timezone.now()} | values
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        EmbeddingSpace.objects.create(**row)


def in_threads(count: int, work) -> list:
    """What `work(number)` gives, or the exception it raises, with all threads starting at once."""
    barrier, results = threading.Barrier(count), [None] * count

    def run(number: int) -> None:
        try:
            barrier.wait(10)
            results[number] = work(number)
        except Exception as error:  # noqa: BLE001
            results[number] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return results


@pytest.mark.django_db(transaction=True)
def test_processes_that_start_at_once_agree_on_one_space():
    spaces = in_threads(8, lambda _: ensure_space(HashingEmbedder()))
    assert {space.pk for space in spaces} == {active_space().pk}


@pytest.mark.django_db(transaction=True)
def test_of_two_models_that_start_first_at_once_one_is_refused():
    embedders = [HashingEmbedder(100), HashingEmbedder(200)] * 3
    results = in_threads(6, lambda number: ensure_space(embedders[number]))
    winner = active_space()
    assert results.count(winner) == 3
    assert sum(isinstance(result, EmbeddingSpaceMismatchError) for result in results) == 3


@pytest.mark.django_db(transaction=True)
def test_activations_at_once_leave_one_active_space():
    spaces = [space_get_or_create(EmbeddingSpaceId(f"m{number}", 10)) for number in range(6)]
    results = in_threads(6, lambda number: space_activate(space=spaces[number]))
    assert not [result for result in results if isinstance(result, Exception)]
    assert EmbeddingSpace.objects.filter(is_active=True).count() == 1
