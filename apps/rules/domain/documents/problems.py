"""The problems of a rule document, each with the path of its field."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import ValidationError

from apps.core.domain.errors import InvalidInputError
from apps.rules.domain.section import shorten

MAX_PROBLEMS = 20
# Instead of messages that name Python types or patterns.
MESSAGES = {
    "extra_forbidden": "Unknown field.",
    "missing": "This field is required.",
    "model_type": "Expected a JSON object.",
    "string_pattern_mismatch": "Expected visible text without NUL characters.",
    "string_unicode": "NUL characters and lone surrogates cannot be stored.",
    "tuple_type": "Expected text or a list of texts.",
    "bool_type": "Expected true or false.",
    "int_type": "Expected a whole number.",
    "float_type": "Expected a number.",
}


class RuleProblem(NamedTuple):
    """path: of the field, with dots. message: what would be right."""

    path: str
    message: str


class InvalidRuleError(InvalidInputError):
    """A rule cannot be used. problems: at least one; the first is the detail of the error."""

    code = "invalid_rule"

    def __init__(self, problems: Sequence[RuleProblem]) -> None:
        super().__init__(problems[0].message, attr=problems[0].path or None)
        self.problems = tuple(problems)

    @classmethod
    def from_validation(cls, error: ValidationError) -> "InvalidRuleError":
        """Create the error from pydantic's, with one problem for each path."""
        problems: dict[str, str] = {}
        for item in error.errors(include_url=False, include_context=False, include_input=False):
            path = ".".join(shorten(part) for part in item["loc"] if not isinstance(part, int))
            problems.setdefault(path, MESSAGES.get(item["type"], f"{item['msg'].removesuffix('.')}."))
        return cls([RuleProblem(path, message) for path, message in problems.items()][:MAX_PROBLEMS])

    def below(self, prefix: str) -> "InvalidRuleError":
        """Return the error with paths below a prefix."""
        return InvalidRuleError(
            [RuleProblem(f"{prefix}.{path}" if path else prefix, message) for path, message in self.problems]
        )
