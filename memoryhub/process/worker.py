"""The worker of `manage.py up`: what `manage.py qcluster` runs, with one process less.

django-q's own command checks the program again, forks a process that only waits for signals, and looks at the schedule
half a minute later. Here the process that guards the others is the one that the supervisor started.
"""

import os
import signal
import time
import uuid
from types import FrameType

from django_q.cluster import Sentinel
from django_q.scheduler import scheduler

from memoryhub.process.commandline import BACKGROUND_NICENESS


class Flag:
    """What django-q wants of an event, without a lock: a signal may set it while it is being read."""

    def __init__(self) -> None:
        self._is_set = False

    def set(self) -> None:
        """Set it."""
        self._is_set = True

    def is_set(self) -> bool:
        """Return whether it is set."""
        return self._is_set

    def wait(self, seconds: float) -> bool:
        """Return whether it is set after so many seconds."""
        time.sleep(seconds)
        return self._is_set


def work() -> None:
    """Work in the background until SIGTERM: what is due at once, and what was begun is finished."""
    os.nice(BACKGROUND_NICENESS)
    stopping = Flag()
    sentinel = Sentinel(stopping, Flag(), uuid.uuid4(), start=False)

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    # The processes that it forks end at once, as they do where the guard has the signal as it was.
    os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
    scheduler(broker=sentinel.broker)
    sentinel.start()
