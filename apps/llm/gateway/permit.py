"""A permit while its attempt is under way: it is handed back whatever happens."""

import logging
from collections.abc import Callable
from types import TracebackType
from typing import Self

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from apps.core.domain.clock import Clock
from apps.llm.domain.chat import Usage
from apps.llm.guards.attempts import Permit, attempt_settle
from apps.llm.guards.breakers import CallResult
from apps.llm.guards.budgets import UnknownReservationError
from apps.llm.guards.calls import CallRecord, call_record
from apps.llm.guards.rules import GuardRules

logger = logging.getLogger(__name__)


class HeldPermit:
    """Holds a permit for a block. Leaving it unsettled, by any exception, hands it back.

    abandoned: what may have been used until then, which is charged since it may have to be paid, and the record.
    """

    def __init__(
        self, permit: Permit, rules: GuardRules, clock: Clock, abandoned: Callable[[], tuple[Usage, CallRecord]]
    ) -> None:
        self.permit = permit
        self._rules = rules
        self._clock = clock
        self._abandoned = abandoned
        self._is_settled = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_settled:
            return
        try:
            self.settle(CallResult.NOT_MADE, *self._abandoned())
        except DatabaseError as failed:
            logger.error(
                "An attempt at %s could not be handed back (%s); its reservations expire later.",
                self.permit.plan.provider,
                type(failed).__name__,
            )

    def settle(self, result: CallResult, usage: Usage | None, record: CallRecord | None = None) -> None:
        """Hand the permit back with the result of its attempt, once. Raises DatabaseError."""
        try:
            self._settle_once(result, usage, record)
        except (OperationalError, InterfaceError):
            if connection.in_atomic_block:
                raise
            # The server may have closed a connection that was idle for minutes; a new one need not fail.
            connection.close()
            self._settle_once(result, usage, record)
        self._is_settled = True

    def _settle_once(self, result: CallResult, usage: Usage | None, record: CallRecord | None) -> None:
        try:
            settlement = attempt_settle(
                permit=self.permit, result=result, usage=usage, rules=self._rules, record=record, clock=self._clock
            )
        except UnknownReservationError:
            # Settled before, and only the answer was lost; or reserved a moment before the database crashed.
            logger.warning("The reservation of an attempt at %s is gone.", self.permit.plan.provider)
            if record is not None:
                call_record(record=record, rules=self._rules)
            return
        for threshold in settlement.alerts:
            logger.warning("%s%% of the day's budget for models are spent.", threshold)
