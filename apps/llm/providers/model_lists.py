"""Which models the configured providers have, asked for now and then."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from weakref import WeakKeyDictionary

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.per_process import PerProcess
from apps.llm.domain.chat import ChatBadRequestError, ChatError, ChatProvider, Timeouts

LIST_TIMEOUTS = Timeouts(connect=2.0, idle=5.0, total=5.0)
LISTED_SECONDS = 300.0
FAILED_SECONDS = 15.0
NO_LIST = "The server has no list of its models."
BEING_ASKED = "The provider is being asked at this moment."


@dataclass(frozen=True)
class ModelList:
    """What a provider says it has. problem: why it could not be asked; then `names` are those known before.

    asked_at: when it answered last, None if it never did.
    """

    names: tuple[str, ...] = ()
    problem: str | None = None
    asked_at: datetime | None = None


@dataclass
class _CachedList:
    """What one provider said. lock: held while it is asked."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    list: ModelList = ModelList(problem=BEING_ASKED)
    fresh_until: float = float("-inf")


class ModelLists:
    """Asks each provider at most once in a while, however many callers there are; safe for several threads."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._cached: WeakKeyDictionary[ChatProvider, _CachedList] = WeakKeyDictionary()

    def get(self, provider: ChatProvider) -> ModelList:
        """Return the models of a provider. Takes no longer than LIST_TIMEOUTS; never raises ChatError.

        One caller asks and waits. Others get what was known before: waiting callers would hold the threads of the web
        server as long as a provider stalls.
        """
        with self._lock:
            cached = self._cached.setdefault(provider, _CachedList())
        if cached.lock.acquire(blocking=False):
            try:
                if self._monotonic() >= cached.fresh_until:
                    cached.list = self._ask(provider, cached.list)
                    cached.fresh_until = self._monotonic() + (FAILED_SECONDS if cached.list.problem else LISTED_SECONDS)
            finally:
                cached.lock.release()
        return cached.list

    def _ask(self, provider: ChatProvider, before: ModelList) -> ModelList:
        try:
            return ModelList(provider.models(LIST_TIMEOUTS), asked_at=utcnow(self._clock))
        except ChatBadRequestError as error:
            return replace(before, problem=NO_LIST if error.status in {404, 405, 501} else str(error))
        except ChatError as error:
            return replace(before, problem=str(error))


def model_list(provider: ChatProvider) -> ModelList:
    """Return the models of a provider, as this process knows them."""
    return _lists.get().get(provider)


_lists = PerProcess(ModelLists)
