"""What is wrong with a rule, and where."""

from collections.abc import Sequence
from typing import NamedTuple

from apps.core.domain.errors import InvalidInputError


class RuleProblem(NamedTuple):
    """path: of the offending field, with dots. message: what would be right."""

    path: str
    message: str

    def below(self, prefix: str) -> "RuleProblem":
        """The same problem, seen from outside."""
        return RuleProblem(f"{prefix}.{self.path}" if self.path else prefix, self.message)


class InvalidRuleError(InvalidInputError):
    """A rule cannot be used. problems: all of them, at least one; the error itself tells of the first."""

    code = "invalid_rule"

    def __init__(self, problems: Sequence[RuleProblem]) -> None:
        super().__init__(problems[0].message, attr=problems[0].path or None)
        self.problems = tuple(problems)

    def below(self, prefix: str) -> "InvalidRuleError":
        """The same error, seen from outside."""
        return InvalidRuleError([problem.below(prefix) for problem in self.problems])
