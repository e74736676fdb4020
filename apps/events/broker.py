"""The queue of django-q2 in the database, with signs of life of the worker."""

import logging
import time
from typing import Any

import psutil
from django.db import Error, connection
from django_q.brokers.orm import ORM

from apps.core.models import ProcessKind
from apps.core.processes import publish, remove_ended

logger = logging.getLogger(__name__)

BEAT_SECONDS = 10.0


class HubBroker(ORM):
    """A queue whose guard says that it is alive: django-q2 calls `set_stat` from its loop, twice a second.

    It says nothing while one of the processes that it guards is stopped: jobs would wait for that one.
    """

    _published_at: float | None = None

    def set_stat(self, key: str, value: Any, timeout: int) -> None:
        """Keep the statistics of the worker, and give a sign of life every ten seconds."""
        super().set_stat(key, value, timeout)
        now = time.monotonic()
        if self._published_at is not None and now - self._published_at < BEAT_SECONDS:
            return
        if any(is_stopped(child) for child in psutil.Process().children()):
            return
        try:
            self.get_connection()  # closes one that is not usable
            publish(ProcessKind.WORKER, {}, {})
            if self._published_at is None:
                remove_ended()
            self._published_at = now
        except Error as error:
            logger.info("a sign of life could not be written: %s", type(error).__name__)
            connection.close()


def is_stopped(process: psutil.Process) -> bool:
    """Return whether a process is stopped, as by SIGSTOP or a debugger."""
    try:
        return process.status() in {psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP}
    except psutil.Error:
        return False
