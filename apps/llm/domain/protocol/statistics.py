"""How often models speak which protocol: plain counters, for metrics and the admin (spec 000 "Dual protocol mode")."""

from dataclasses import dataclass

from apps.llm.domain.protocol.results import ParsedOutput, Protocol


@dataclass(frozen=True)
class ProtocolStatistics:
    """Outputs by outcome.

    abp + vcp + text = outputs. abp_failed: with an ABP block that was meant and could not be used, and none that could.
    fallback_to_vcp: a request by VCP because there was none by ABP. fallback_to_text: a block was meant, and none
    could be used. fixed: the request was repaired on the way. refused: markers and blocks that were ignored, those
    that were only shown among them, each once.
    """

    outputs: int = 0
    abp: int = 0
    vcp: int = 0
    text: int = 0
    abp_failed: int = 0
    fallback_to_vcp: int = 0
    fallback_to_text: int = 0
    fixed: int = 0
    refused: int = 0

    @property
    def asked(self) -> int:
        """Return the number of outputs that requested a tool, or meant to."""
        return self.abp + self.vcp + self.fallback_to_text

    @property
    def fallback_rate(self) -> float:
        """Return the share of `asked` in which the preferred protocol could not be used, 0 to 1."""
        return (self.fallback_to_vcp + self.fallback_to_text) / self.asked if self.asked else 0.0

    def __add__(self, other: "ProtocolStatistics") -> "ProtocolStatistics":
        return ProtocolStatistics(**{name: getattr(self, name) + getattr(other, name) for name in COUNTERS})


COUNTERS = tuple(ProtocolStatistics.__dataclass_fields__)


def measure_output(parsed: ParsedOutput) -> ProtocolStatistics:
    """Return the counters of one output."""
    return ProtocolStatistics(
        outputs=1,
        abp=int(parsed.protocol is Protocol.ABP),
        vcp=int(parsed.protocol is Protocol.VCP),
        text=int(parsed.protocol is Protocol.TEXT),
        abp_failed=int(parsed.abp_failed),
        fallback_to_vcp=int(parsed.fallback is Protocol.VCP),
        fallback_to_text=int(parsed.fallback is Protocol.TEXT),
        fixed=int(any(request.fixes for request in parsed.requests)),
        refused=parsed.refused_count,
    )
