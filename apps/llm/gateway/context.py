"""How long and how often a model is asked, out of the settings."""

from dataclasses import dataclass, replace

from django.conf import settings

from apps.llm.domain.retry import DEFAULT_RETRY_POLICY, CallRetryPolicy
from apps.llm.domain.stream_assembly import DEFAULT_ASSEMBLY_CONFIG, AssemblyConfig

DEADLINE_MS = 600_000
PATIENCE_MS = 2_000
CORRECTIONS = 1
# What is left of a reservation when an attempt must be over, for settling it.
RESERVATION_MARGIN_MS = 5_000


@dataclass(frozen=True)
class GatewayPolicy:
    """retry: of one provider. deadline_ms: of a whole call, with all its tries and waits.

    patience_ms: the longest pause that a provider is granted while there is another one to ask. corrections: how often
    a model is told what is wrong with its answer, and asked again. assembly: the limits of an answer.
    """

    retry: CallRetryPolicy = DEFAULT_RETRY_POLICY
    deadline_ms: int = DEADLINE_MS
    patience_ms: int = PATIENCE_MS
    corrections: int = CORRECTIONS
    assembly: AssemblyConfig = DEFAULT_ASSEMBLY_CONFIG

    def retry_of(self, *, is_last: bool) -> CallRetryPolicy:
        """The retries of one provider; `is_last`: there is no other to ask after it."""
        if is_last:
            return self.retry
        return replace(self.retry, max_retry_after_ms=min(self.retry.max_retry_after_ms, self.patience_ms))


def gateway_policy() -> GatewayPolicy:
    """The operator's."""
    config = settings.MEMORYHUB.chat
    return GatewayPolicy(
        retry=replace(DEFAULT_RETRY_POLICY, max_attempts=config.max_tries),
        deadline_ms=round(config.deadline_seconds * 1_000),
        corrections=config.corrections,
    )
