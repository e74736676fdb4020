"""Tools that a model may request, and the checks before one runs (pure, but for the handlers).

A tool is registered with a JSON Schema (draft 2020-12) of its parameters. Every request of a model is answered
with a ToolResult; nothing that a model can write raises.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from apps.core.domain.errors import ForbiddenError, InvalidInputError, MemoryHubError, UnavailableError
from apps.core.domain.scope import Access, Permission
from apps.llm.domain.protocol.results import Protocol, ToolRequest

MAX_ERRORS = 10
MAX_ECHOED_CHARS = 100
TRUNCATED = "truncated"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
Schema = Mapping[str, Any]
Json = dict[str, Any]
Handler = Callable[[Access, Mapping[str, Any]], Mapping[str, Any]]


def object_schema(properties: Json, *, required: tuple[str, ...]) -> Json:
    """Return the schema of an object with these properties and no others."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


class ToolError(Exception):
    """A tool or a table of tools is invalid; a mistake in the code."""


@dataclass(frozen=True)
class ToolProblem:
    """What is wrong with a request. attr: the parameter at fault, as a dotted path, where there is one."""

    code: str
    detail: str
    attr: str | None = None


class InvalidParametersError(InvalidInputError):
    """A handler finds several things wrong with its parameters."""

    def __init__(self, problems: Iterable[ToolProblem]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        super().__init__(first.detail, attr=first.attr, code=first.code)


@dataclass(frozen=True)
class Tool:
    """A tool. name: snake_case. parameters: the JSON Schema of an object. permission: what the caller must hold.

    handler: runs it under the caller's access, with valid parameters; returns a JSON object, may raise MemoryHubError.
    aliases: other names of parameters that are accepted, but not listed.
    """

    name: str
    description: str
    parameters: Schema
    permission: Permission
    handler: Handler = field(repr=False)
    aliases: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ToolError(f"{self.name!r} is no name for a tool: expected something like 'memory_save'.")
        if self.parameters.get("type") != "object":
            raise ToolError(f"{self.name}: the schema of the parameters must be that of an object.")
        Draft202012Validator.check_schema(dict(self.parameters))

    def named(self, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return parameters with the names of the schema; one that has both names keeps both, and is refused."""
        return {
            self.aliases[name] if name in self.aliases and self.aliases[name] not in parameters else name: value
            for name, value in parameters.items()
        }

    @property
    def writes(self) -> bool:
        """Return whether it changes something."""
        return self.permission is not Permission.READ


class ToolOutcome(StrEnum):
    """The outcome of a request."""

    DONE = "done"
    UNKNOWN_TOOL = "unknown_tool"
    FORBIDDEN = "forbidden"
    INVALID_PARAMETERS = "invalid_parameters"
    FAILED = "failed"


@dataclass(frozen=True)
class ToolResult:
    """The answer to a request. value: the tool's JSON, when it is done. problems: why it is not.

    retryable: the same request may succeed later; retry_after: in so many seconds.
    """

    name: str
    protocol: Protocol
    outcome: ToolOutcome
    value: Mapping[str, Any] | None = None
    problems: tuple[ToolProblem, ...] = ()
    retry_after: int | None = None

    @property
    def is_done(self) -> bool:
        """Return whether the tool ran and answered."""
        return self.outcome is ToolOutcome.DONE

    @property
    def retryable(self) -> bool:
        """Return whether a retry makes sense."""
        return self.retry_after is not None


class ToolRegistry:
    """The tools of a hub, by name. Raises ToolError for a name that occurs twice."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ToolError(f"There are two tools called {tool.name!r}.")
            self._tools[tool.name] = tool
        self._validators = {tool.name: Draft202012Validator(dict(tool.parameters)) for tool in self._tools.values()}

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def allowed(self, access: Access) -> list[Tool]:
        """Return the tools that a caller may use, in the order of the table."""
        return [tool for tool in self if access.allows(tool.permission)]

    def execute(self, access: Access, request: ToolRequest, given: Schema | None = None) -> ToolResult:
        """Run the tool of a request under the caller's access, once it is known, permitted and its parameters valid.

        A tool that writes takes no parameter that was cut: half a sentence would be stored as a fact.
        Errors that callers are meant to see (MemoryHubError) become part of the answer; any other is a bug, and
        is raised.

        given: further parameters, of the caller and not of its model, which the schema does not know.
        """

        def refuse(outcome: ToolOutcome, *problems: ToolProblem, retry_after: int | None = None) -> ToolResult:
            return ToolResult(request.name, request.protocol, outcome, problems=problems, retry_after=retry_after)

        tool = self._tools.get(request.name)
        if tool is None:
            return refuse(ToolOutcome.UNKNOWN_TOOL, self.suggest(access, request.name))
        if not access.allows(tool.permission):
            detail = f"This key may not use {tool.name}: it needs the permission {tool.permission}."
            return refuse(ToolOutcome.FORBIDDEN, ToolProblem("permission_denied", detail))
        if tool.writes and request.truncated:
            detail = "The output ends inside this parameter. Send the whole request again."
            cut = [ToolProblem(TRUNCATED, detail, path or None) for path in request.truncated]
            return refuse(ToolOutcome.INVALID_PARAMETERS, *cut)
        parameters = tool.named(request.parameters)
        if request.protocol is Protocol.VCP:
            parameters = parse_vcp_parameters(parameters, tool.parameters)
        errors = islice(self._validators[tool.name].iter_errors(dict(parameters)), MAX_ERRORS)
        problems = dict.fromkeys(problem for error in errors for problem in describe_error(error))
        if problems:
            by_parameter = sorted(problems, key=lambda problem: problem.attr or "")
            return refuse(ToolOutcome.INVALID_PARAMETERS, *by_parameter[:MAX_ERRORS])
        try:
            value = tool.handler(access, {**parameters, **(given or {})})
        except InvalidParametersError as error:
            return refuse(ToolOutcome.INVALID_PARAMETERS, *error.problems)
        except MemoryHubError as error:
            outcome = ToolOutcome.FORBIDDEN if isinstance(error, ForbiddenError) else ToolOutcome.FAILED
            retry_after = error.retry_after if isinstance(error, UnavailableError) else None
            return refuse(outcome, ToolProblem(error.code, error.detail, error.attr), retry_after=retry_after)
        return ToolResult(request.name, request.protocol, ToolOutcome.DONE, value)

    def suggest(self, access: Access, name: str) -> ToolProblem:
        """Return the problem of an unknown name, with the tool that was probably meant."""
        names = [tool.name for tool in self.allowed(access)]
        close = get_close_matches(name.lower(), names, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"Known are: {', '.join(names) or 'none'}."
        return ToolProblem("unknown_tool", f"There is no tool called {name[:MAX_ECHOED_CHARS]!r}. {hint}")


def parse_vcp_parameters(parameters: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Return VCP parameters, whose values are all text, as JSON where the schema does not accept text.

    A value that is no JSON stays text, for the validation to name it.
    """
    properties, parsed = schema.get("properties", {}), dict(parameters)
    for name, value in parameters.items():
        if "string" not in properties.get(name, {}).get("type", "string") and isinstance(value, str):
            try:
                parsed[name] = json.loads(value)
            except (ValueError, RecursionError):
                continue
    return parsed


def describe_error(error: ValidationError) -> Iterator[ToolProblem]:
    """Yield the problems of one error, without the value at fault, which may be long or a private memory."""

    def path_to(*names: str) -> str | None:
        return ".".join([*map(str, error.absolute_path), *names])[:MAX_ECHOED_CHARS] or None

    rule: Any = error.validator_value
    given: Any = error.instance
    schema: Any = error.schema
    if error.validator == "required":
        for name in [name for name in rule if name not in given]:
            yield ToolProblem("required", "This parameter is required.", path_to(name))
    elif error.validator == "additionalProperties":
        for name in sorted(set(given) - set(schema.get("properties", {})))[:MAX_ERRORS]:
            yield ToolProblem("unknown_parameter", "Unknown parameter.", path_to(name))
    else:
        wanted = json.dumps(rule, ensure_ascii=False)[:MAX_ECHOED_CHARS]
        yield ToolProblem("invalid", f"Must keep to {error.validator}: {wanted}.", path_to())
