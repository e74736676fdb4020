"""The models that providers say they have: asked for seldom, and never a reason to fail."""

import threading
from collections.abc import Callable

import pytest

from apps.core.domain.clock import to_datetime
from apps.llm.domain.chat import ChatBadRequestError, ChatConnectionError, ChatError, Timeouts
from apps.llm.providers.model_lists import (
    BEING_ASKED,
    FAILED_SECONDS,
    LIST_TIMEOUTS,
    LISTED_SECONDS,
    NO_LIST,
    ModelList,
    ModelLists,
)
from apps.llm.providers.scripted import ScriptedChat
from tests.integration.llm.configuring import NOON, noon
from tests.threads import at_once

DOWN = ChatConnectionError("The chat provider openai cannot be reached.")


class Listing(ScriptedChat):
    """Says one thing after the other about its models."""

    def __init__(self, *said: tuple[str, ...] | ChatError) -> None:
        super().__init__([])
        self.said = list(said)
        self.asked: list[Timeouts | None] = []

    def models(self, timeouts: Timeouts | None = None) -> tuple[str, ...]:
        self.asked.append(timeouts)
        said = self.said.pop(0)
        if isinstance(said, ChatError):
            raise said
        return said


class Stopwatch:
    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def watch() -> Stopwatch:
    return Stopwatch()


@pytest.fixture
def lists(watch: Callable[[], float]) -> ModelLists:
    return ModelLists(noon(), watch)


def test_list_is_asked_for_with_short_timeout_and_kept(lists: ModelLists, watch: Stopwatch) -> None:
    provider = Listing(("a", "b"), ("c",))
    assert lists.get(provider) == ModelList(("a", "b"), None, NOON)
    watch.seconds += LISTED_SECONDS - 1
    assert lists.get(provider).names == ("a", "b")
    watch.seconds += 1
    assert lists.get(provider).names == ("c",)
    assert provider.asked == [LIST_TIMEOUTS, LIST_TIMEOUTS]


def test_trouble_is_told_and_what_was_known_stays(lists: ModelLists, watch: Stopwatch) -> None:
    provider = Listing(("a",), DOWN, DOWN, ("b",))
    lists.get(provider)
    watch.seconds += LISTED_SECONDS
    assert lists.get(provider) == ModelList(("a",), str(DOWN), NOON)
    watch.seconds += FAILED_SECONDS
    assert lists.get(provider).problem == str(DOWN)
    watch.seconds += FAILED_SECONDS
    assert lists.get(provider) == ModelList(("b",), None, NOON)


def test_trouble_is_not_asked_for_again_at_once(lists: ModelLists, watch: Stopwatch) -> None:
    provider = Listing(DOWN, ("a",))
    assert lists.get(provider) == ModelList((), str(DOWN), None)
    watch.seconds += FAILED_SECONDS - 1
    assert lists.get(provider).problem == str(DOWN)
    assert len(provider.asked) == 1


@pytest.mark.parametrize(
    ("status", "told"), [(404, NO_LIST), (405, NO_LIST), (501, NO_LIST), (400, "refused"), (None, "refused")]
)
def test_a_server_without_a_list_is_told_as_such(lists: ModelLists, status: int | None, told: str) -> None:
    assert lists.get(Listing(ChatBadRequestError("refused", status=status))).problem == told


def test_each_provider_has_its_own_list(lists: ModelLists) -> None:
    one, other = Listing(("a",)), Listing(("b",))
    assert (lists.get(one).names, lists.get(other).names) == (("a",), ("b",))


class Slow(Listing):
    """Answers once it may."""

    def __init__(self, *said: tuple[str, ...] | ChatError) -> None:
        super().__init__(*said)
        self.begun, self.may_answer = threading.Event(), threading.Event()

    def models(self, timeouts: Timeouts | None = None) -> tuple[str, ...]:
        self.begun.set()
        self.may_answer.wait(10)
        return super().models(timeouts)


def asked_while_asking(lists: ModelLists, provider: Slow) -> list[ModelList]:
    """What the caller is told who asks the provider, and one who comes while it has not answered."""

    def meanwhile() -> ModelList:
        provider.begun.wait(10)
        try:
            return lists.get(provider)
        finally:
            provider.may_answer.set()

    return at_once(lambda: lists.get(provider), meanwhile)


def test_callers_at_once_ask_once_and_only_one_of_them_waits(lists: ModelLists) -> None:
    provider = Slow(("a",))

    asking, other = asked_while_asking(lists, provider)
    assert (asking.names, other) == (("a",), ModelList((), BEING_ASKED))
    assert len(provider.asked) == 1


def test_while_provider_is_asked_again_models_known_before_are_told(lists: ModelLists, watch: Stopwatch) -> None:
    provider = Slow(("a",), ("b",))
    provider.may_answer.set()
    known = lists.get(provider)
    watch.seconds += LISTED_SECONDS
    provider.begun.clear()
    provider.may_answer.clear()

    asking, other = asked_while_asking(lists, provider)
    assert (asking.names, other) == (("b",), known)


def test_a_mistake_of_ours_does_not_lock_the_list(lists: ModelLists) -> None:
    class Broken(Listing):
        def models(self, timeouts: Timeouts | None = None) -> tuple[str, ...]:
            if not self.asked:
                self.asked.append(timeouts)
                raise RuntimeError
            return super().models(timeouts)

    provider = Broken(("a",))
    with pytest.raises(RuntimeError):
        lists.get(provider)
    assert lists.get(provider).names == ("a",)


def test_moment_of_answer_is_that_of_clock(watch: Stopwatch) -> None:
    clock = noon()
    clock.advance(5_000)
    assert ModelLists(clock, watch).get(Listing(())).asked_at == to_datetime(clock.now())
