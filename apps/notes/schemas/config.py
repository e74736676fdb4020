"""Inputs and outputs of the settings of notes, with the names of the file (spec 001, settings API)."""

from dataclasses import asdict
from typing import Annotated, Any, TypedDict, cast

from rest_framework import serializers

from apps.core.schemas.fields import StrictBooleanField, StrictCharField, StrictFloatField, StrictIntegerField
from apps.notes.domain.settings import MAX_MODEL_CHARS, SETTINGS, Range, camel_name, check
from apps.notes.files.config import ReadConfig
from apps.notes.schemas.notes import OwnerInput


def limits_of(name: str) -> dict[str, Any]:
    """Return the limits of a number."""
    limits: Range = SETTINGS[name].metadata["range"]
    kind = int if isinstance(SETTINGS[name].default, int) else float
    return {"required": False, "min_value": kind(limits.least), "max_value": kind(limits.greatest)}


def model_field() -> StrictCharField:
    """Return the field of the name of a model."""
    return StrictCharField(required=False, max_length=MAX_MODEL_CHARS, help_text="As in GET /api/llm/models.")


class ConfigInput(OwnerInput):
    """Settings to change; those that are left out stay as they are."""

    enabled = StrictBooleanField(required=False, help_text="Whether facts are learnt from conversations at all.")
    autoExtract = StrictBooleanField(required=False, help_text="Whether facts are extracted after a turn.")
    flushThreshold = StrictFloatField(
        **limits_of("flushThreshold"), help_text="The share of the context window at which notes are flushed."
    )
    extractIntervalSeconds = StrictIntegerField(
        **limits_of("extractIntervalSeconds"), help_text="The shortest time between two extractions of a conversation."
    )
    minNewMessages = StrictIntegerField(
        **limits_of("minNewMessages"), help_text="Extract only when there are at least this many new messages."
    )
    llmGatingEnabled = StrictBooleanField(required=False, help_text="Whether a model judges what is worth keeping.")
    llmGatingModel = model_field()
    llmExtractionEnabled = StrictBooleanField(required=False, help_text="Whether a model extracts facts.")
    llmExtractionModel = model_field()
    llmExtractionMaxMessages = StrictIntegerField(
        **limits_of("llmExtractionMaxMessages"), help_text="How many of the last messages the model is shown."
    )
    llmCompactionEnabled = StrictBooleanField(required=False, help_text="Whether a model shortens MEMORY.md.")
    llmCompactionModel = model_field()
    llmCompactionFactThreshold = StrictIntegerField(
        **limits_of("llmCompactionFactThreshold"), help_text="The number of facts from which it is shortened."
    )
    llmCompactionAutoApply = StrictBooleanField(
        required=False, help_text="Whether a shorter MEMORY.md is applied without confirmation."
    )
    problems = serializers.JSONField(
        required=False, allow_null=True, write_only=True, help_text="Ignored in a request; part of every answer."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse what the file could not have."""
        for name, value in changes_of(attrs).items():
            expected = check(SETTINGS[name], value)[1]
            if expected is not None:
                raise serializers.ValidationError({name: [f"Expected {expected}."]}, code="invalid")
        return attrs


def changes_of(data: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that checked input changes."""
    return {name: value for name, value in data.items() if name in SETTINGS}


class ConfigProblemOutput(TypedDict):
    """Something that is wrong with the file of the settings."""

    code: Annotated[
        str,
        serializers.ChoiceField(choices=["invalid_setting", "set_aside", "missing", "unsettled"]),
        "invalid_setting: the last valid value of this setting is used. For the whole file, whose"
        " last valid settings are used: set_aside: it was not a JSON object, and was renamed. "
        "missing: it is gone or empty. unsettled: it cannot be read "
        "and was saved a moment ago.",
    ]
    detail: str
    attr: Annotated[str | None, "The setting."]


class ConfigOutput(TypedDict):
    """The settings of a user's notes, those that are not in the file with their defaults."""

    enabled: bool
    autoExtract: bool
    flushThreshold: float
    extractIntervalSeconds: int
    minNewMessages: int
    llmGatingEnabled: bool
    llmGatingModel: str
    llmExtractionEnabled: bool
    llmExtractionModel: str
    llmExtractionMaxMessages: int
    llmCompactionEnabled: bool
    llmCompactionModel: str
    llmCompactionFactThreshold: int
    llmCompactionAutoApply: bool
    problems: list[ConfigProblemOutput]


def config_json(read: ReadConfig) -> ConfigOutput:
    """Return settings as the API shows them."""
    values = {camel_name(name): value for name, value in asdict(read.config).items()}
    problems = [{"code": each.code, "detail": each.detail, "attr": each.attr} for each in read.problems]
    return cast("ConfigOutput", {**values, "problems": problems})
