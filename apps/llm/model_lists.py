"""Which models the configured providers have, asked for now and then."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from weakref import WeakKeyDictionary

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.llm.domain.chat import ChatBadRequestError, ChatError, Timeouts
from apps.llm.providers.per_process import PerProcess
from apps.llm.providers.provider import ChatProvider

LIST_TIMEOUTS = Timeouts(connect=2.0, idle=5.0, total=5.0)
LISTED_SECONDS = 300.0
FAILED_SECONDS = 15.0
NO_LIST = "The server has no list of its models."


@dataclass(frozen=True)
class ModelList:
    """What a provider says it has. problem: why it could not be asked; then `names` are those known before.

    asked_at: when it answered last, None if it never did.
    """

    names: tuple[str, ...] = ()
    problem: str | None = None
    asked_at: datetime | None = None


class _Kept:
    """What one provider said."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.list = ModelList()
        self.fresh_until = float("-inf")


class ModelLists:
    """Asks each provider at most once in a while, however many callers want to know; safe for several threads."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._kept: WeakKeyDictionary[ChatProvider, _Kept] = WeakKeyDictionary()

    def of(self, provider: ChatProvider) -> ModelList:
        """The models of a provider. Takes no longer than LIST_TIMEOUTS; never raises ChatError."""
        with self._lock:
            kept = self._kept.setdefault(provider, _Kept())
        with kept.lock:  # so that callers at once wait for one answer
            if self._monotonic() >= kept.fresh_until:
                kept.list = self._ask(provider, kept.list)
                lasts = FAILED_SECONDS if kept.list.problem else LISTED_SECONDS
                kept.fresh_until = self._monotonic() + lasts
            return kept.list

    def _ask(self, provider: ChatProvider, before: ModelList) -> ModelList:
        try:
            return ModelList(provider.models(LIST_TIMEOUTS), asked_at=utcnow(self._clock))
        except ChatBadRequestError as error:
            return replace(before, problem=NO_LIST if error.status in {404, 405, 501} else str(error))
        except ChatError as error:
            return replace(before, problem=str(error))


def model_list(provider: ChatProvider) -> ModelList:
    """The models of a provider, as this process knows them."""
    return _lists.get().of(provider)


_lists = PerProcess(ModelLists)
