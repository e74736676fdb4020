"""What requests about tools may hold."""

from apps.core.schemas.fields import StrictCharField, StrictChoiceField
from apps.core.schemas.serializers import StrictSerializer
from apps.llm.domain.protocol.results import ProtocolMode

MAX_OUTPUT_CHARS = 100_000
MODES = [mode.value for mode in ProtocolMode]


class ToolTextInput(StrictSerializer):
    """What a model said. An output without a word is one that asks for nothing, so it is taken, too."""

    text = StrictCharField(
        max_length=MAX_OUTPUT_CHARS, allow_blank=True, trim_whitespace=False, help_text="The output, as it is."
    )
    mode = StrictChoiceField(
        choices=MODES,
        required=False,
        help_text="The protocols that are understood. Default: dual, which is ABP first and VCP when that gives none.",
    )


def mode_of(data: dict[str, str]) -> ProtocolMode:
    """The mode that validated ToolTextInput names."""
    return ProtocolMode(data.get("mode", ProtocolMode.DUAL))
