"""Rules: what a document may contain, and which rule matches (spec 000 "Configurable Merge Rules").

A document is JSON in which everything but `name` may be missing. Missing settings come from the rule that it extends,
else from the defaults of the sections. `null` means missing, except under `conditions`, where it removes an inherited
condition.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    field_serializer,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from apps.rules.domain.decimals import exceeds, reaches
from apps.rules.domain.documents.problems import InvalidRuleError
from apps.rules.domain.engine.arbitration import ArbitrationConfig
from apps.rules.domain.engine.merge import MergeConfig
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.signals import DetectionConfig
from apps.rules.domain.section import STORABLE_TEXT, Flag, SettingsGroup, Share, Word, Words

Document = dict[str, Any]
DEFAULT_RULE = "default"
# The guard: what was only inferred is decided by it, unless another rule names that source.
INFERRED_RULE = "inferred"
MAX_NAME_CHARS = 100
MAX_PRIORITY = 1_000_000
# What follows /api/rules/ in an address that is no rule.
RESERVED_NAMES = frozenset({"export", "load", "match", "evaluate", ".", ".."})
# A little wider than `check_name`: a pattern cannot say which characters of all scripts are printable.
NAME_SCHEMA = {"type": "string", "maxLength": MAX_NAME_CHARS, "pattern": r"^[^\s/]([^/]*[^\s/])?$"}
# What they do not say comes from the defaults of the configuration classes, which are chosen by measurement.
BUILT_IN: Mapping[str, Mapping[str, Any]] = {
    DEFAULT_RULE: {
        "name": DEFAULT_RULE,
        "description": "Applies where no other rule does. The newer of two conflicting memories wins.",
    },
    INFERRED_RULE: {
        "name": INFERRED_RULE,
        "extends": DEFAULT_RULE,
        "priority": -100,
        "description": "What was only inferred never overrides what a better source said, however old that is. "
        "Of two inferred memories the newer one wins. Holds beside every rule that does not name this source.",
        "conditions": {"source": "inferred"},
        "arbitration": {
            "priority_recency": False,
            "priority_source": True,
            "weights": {"importance": 0, "recency": 1, "source": 0, "semantic": 0},
            "merge_threshold": 0,
        },
    },
}


def check_name(name: str) -> str:
    """Return the name of a rule. Raise an error for one that an address or a list cannot show."""
    if not name.isprintable() or name != name.strip() or "/" in name:
        detail = "A name is printable, has no slash, and neither begins nor ends with a space."
        raise PydanticCustomError("name", detail)
    if name in RESERVED_NAMES:
        raise PydanticCustomError("name", "This name is reserved for an address of the API; choose another.")
    return name


class ImportanceRange(SettingsGroup):
    """Limits of the importance, both included; None is open."""

    min: Share | None = Field(default=None, description="Only memories that are at least this important.")
    max: Share | None = Field(default=None, description="Only memories that are at most this important.")

    @model_validator(mode="after")
    def check_order(self) -> Self:
        """Raise an error when the minimum is above the maximum."""
        if self.min is not None and self.max is not None and self.min > self.max:
            problem = PydanticCustomError("order", "Must not be above the maximum of {max}.", {"max": f"{self.max:g}"})
            details = InitErrorDetails(type=problem, loc=("min",), input=self.min)
            raise ValidationError.from_exception_data("range", [details])
        return self


class Conditions(SettingsGroup):
    """The `conditions` section of a rule: what the candidate must be for the rule to match. None: anything."""

    user_id: Word | None = Field(default=None, description="Only memories of this user. Empty: of every user.")
    household_id: Word | None = Field(
        default=None, description="Only memories of this household. Empty: of any or none."
    )
    persona_id: Word | None = Field(default=None, description="Only memories of this persona. Empty: of any or none.")
    source: Words = Field(default=(), description="Only memories from one of these sources. Empty: from any.")
    importance_range: ImportanceRange = Field(default_factory=ImportanceRange)

    @field_serializer("source")
    def serialize_source(self, source: tuple[str, ...]) -> str | list[str] | None:
        """Return one source as text, several as a list, none as null."""
        return source[0] if len(source) == 1 else list(source) or None

    def match(self, candidate: MemoryRecord) -> bool:
        """Return whether a memory meets every condition. Sources are compared without regard to case."""
        low, high = self.importance_range.min, self.importance_range.max
        return (
            self.user_id in {None, candidate.user_id}
            and self.household_id in {None, candidate.household_id}
            and self.persona_id in {None, candidate.persona_id}
            and (not self.source or self.names_source(candidate))
            and (low is None or reaches(candidate.importance, low))
            and (high is None or not exceeds(candidate.importance, high))
        )

    def names_source(self, candidate: MemoryRecord) -> bool:
        """Return whether the source of a memory is one of those that are named."""
        source = candidate.source.strip().casefold()
        return any(source == wanted.strip().casefold() for wanted in self.source)


class RuleConfig(SettingsGroup):
    """A rule with all settings that it inherits. Its own name and `extends` are never inherited."""

    name: Annotated[
        str,
        StringConstraints(strict=True, min_length=1, max_length=MAX_NAME_CHARS),
        AfterValidator(check_name),
        WithJsonSchema(NAME_SCHEMA),
    ] = Field(description="Unique name, 1 to 100 characters without a slash.")
    extends: Annotated[Word | None, WithJsonSchema({**NAME_SCHEMA, "nullable": True})] = Field(
        default=None, description="The rule that it inherits settings from."
    )
    enabled: Flag = Field(default=True, description="A disabled rule matches nothing; others may still extend it.")
    priority: Annotated[
        int,
        Field(strict=True, ge=-MAX_PRIORITY, le=MAX_PRIORITY),
        BeforeValidator(lambda value: int(value) if isinstance(value, float) and value.is_integer() else value),
    ] = Field(default=0, description="Of several rules that match, the one with the highest priority is used.")
    description: Annotated[str, StringConstraints(strict=True, max_length=2_000, pattern=STORABLE_TEXT)] = Field(
        default="", description="The purpose of the rule."
    )
    conditions: Conditions = Field(default_factory=Conditions)
    detection: DetectionConfig = Field(default_factory=DetectionConfig)
    arbitration: ArbitrationConfig = Field(default_factory=ArbitrationConfig)
    merge: MergeConfig = Field(default_factory=MergeConfig)

    def to_document(self) -> Document:
        """Return every setting as a document."""
        return self.model_dump(mode="json")


def rule_from_document(document: Mapping[str, Any]) -> RuleConfig:
    """Return the rule that a document describes without what it inherits. Raise InvalidRuleError."""
    try:
        return RuleConfig.model_validate(document)
    except ValidationError as error:
        raise InvalidRuleError.from_validation(error) from None


def by_priority(rules: Iterable[RuleConfig]) -> list[RuleConfig]:
    """Return the rules in the order in which they are tried: by descending priority, then by name."""
    return sorted(rules, key=lambda rule: (-rule.priority, rule.name))


def match(rules: Iterable[RuleConfig], candidate: MemoryRecord) -> RuleConfig | None:
    """Return the first enabled rule, in order of priority, whose conditions the candidate meets; None for none.

    Where the guard INFERRED_RULE meets them, other rules apply only if their conditions name the source of the
    candidate: a rule about a user, say, does not let guesses override what the user said. The default rule is not
    tried: it applies when this returns None.
    """
    enabled = (rule for rule in by_priority(rules) if rule.enabled and rule.name != DEFAULT_RULE)
    met = [rule for rule in enabled if rule.conditions.match(candidate)]
    if any(rule.name == INFERRED_RULE for rule in met):
        met = [rule for rule in met if rule.name == INFERRED_RULE or rule.conditions.names_source(candidate)]
    return met[0] if met else None


def with_built_in(stored: Mapping[str, dict[str, Any]], versions: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    """All rules: those stored, and the built-in ones as they are here unless they were edited.

    versions: name -> version of the registry when the rule last changed, 0 for never.
    """
    unedited = {name: dict(document) for name, document in BUILT_IN.items() if not versions.get(name)}
    return {**stored, **unedited}
