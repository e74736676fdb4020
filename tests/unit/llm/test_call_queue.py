"""The queue of calls that wait for a provider's tokens: its order, and what a place in it counts."""

from apps.llm.gateway.queue import CallQueue


def test_call_counts_itself_and_those_before_it() -> None:
    queue = CallQueue()
    first, second, third = object(), object(), object()
    assert queue.depth("openai", first) == 1
    queue.join("openai", first)
    queue.join("openai", second)
    queue.join("openai", first)
    assert [queue.depth("openai", call) for call in (first, second, third)] == [1, 2, 3]


def test_those_behind_a_call_that_leaves_move_up() -> None:
    queue = CallQueue()
    first, second = object(), object()
    queue.join("openai", first)
    queue.join("openai", second)
    queue.leave("openai", first)
    queue.leave("openai", first)
    assert queue.depth("openai", second) == 1


def test_each_provider_has_a_queue_of_its_own() -> None:
    queue = CallQueue()
    queue.join("openai", object())
    assert queue.depth("anthropic", object()) == 1
