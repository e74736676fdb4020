"""Whether processes make progress: what they do counts, not how long it takes."""

import os

import pytest

from memoryhub.process.progress import LOOK_SECONDS, Progress, list_tree, measure_work

PATIENCE = 120.0


class Hand:
    """A clock that is put forward by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def progress(clock: Hand) -> Progress:
    return Progress(PATIENCE, clock=clock)


def pass_time(progress: Progress, clock: Hand, seconds: int, share: float, done: float = 0.0) -> float:
    """Look once a second at a process that takes a share of a processor; return what it has done in the end."""
    for _ in range(seconds):
        clock.now += 1
        done += share
        progress.look({"web": done})
    return done


@pytest.mark.parametrize("share", [1.0, 0.12, 0.01, 0.003])
def test_starved_process_is_never_idle(progress: Progress, clock: Hand, share: float) -> None:
    pass_time(progress, clock, 3_600, share)
    assert progress.idle < PATIENCE


@pytest.mark.parametrize("share", [0.0, 0.0005])
def test_process_that_hangs_is_idle_in_time(progress: Progress, clock: Hand, share: float) -> None:
    done = pass_time(progress, clock, 60, 0.5)
    assert progress.idle <= 2
    pass_time(progress, clock, 122, share, done)
    assert progress.idle > PATIENCE


def test_work_of_any_process_is_progress(progress: Progress, clock: Hand) -> None:
    for second in range(300):
        clock.now += 1
        progress.look({"parent": 3.0, "one": 7.0, "other": second * 0.1})
    assert progress.idle < 5


def test_another_process_is_progress(progress: Progress, clock: Hand) -> None:
    pass_time(progress, clock, 100, 0.0)
    clock.now += 1
    progress.look({"web": 0.0, "new": 0.5})
    assert progress.idle == 0


def test_a_process_that_ended_is_no_progress(progress: Progress, clock: Hand) -> None:
    progress.look({"web": 5.0, "other": 50.0})
    for _ in range(130):
        clock.now += 1
        progress.look({"web": 5.0})
    assert progress.idle > PATIENCE
    assert progress.spent == 0


def test_sleep_of_the_one_who_looks_counts_little(progress: Progress, clock: Hand) -> None:
    pass_time(progress, clock, 10, 0.0)
    clock.now += 8 * 3_600  # the machine was suspended, or this process got no processor
    progress.look({"web": 0.0})
    assert progress.idle == pytest.approx(9 + LOOK_SECONDS)


def test_work_before_a_sign_of_life_is_not_spent(progress: Progress, clock: Hand) -> None:
    done = pass_time(progress, clock, 30, 1.0)
    assert progress.spent == pytest.approx(29)
    progress.hear()
    assert (progress.spent, progress.idle) == (0.0, 0.0)
    pass_time(progress, clock, 5, 1.0, done + 1_000)
    assert progress.spent == pytest.approx(4)


def test_work_of_this_process_is_measured() -> None:
    here = list_tree(os.getpid())[:1]
    before = measure_work(here)[here[0]]
    sum(range(6_000_000))
    assert measure_work(here)[here[0]] > before


def test_a_process_that_is_gone_has_no_tree() -> None:
    assert list_tree(None) == []
    assert list_tree(2**22 - 1) == []
