"""Several statements in one round trip, past the ORM, for what every call to a model runs.

On an idle machine a statement takes 0.02 to 0.05 ms and the ORM around it another 0.3 to 0.5 ms; on a busy one the
wait for each answer takes longest. Both would be most of what the guards cost (docs/decisions/0016 has the figures).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from django.db import connection


class Statement(NamedTuple):
    """One SQL statement with its parameters."""

    text: str
    parameters: Sequence[Any] = ()


@dataclass(frozen=True)
class Result:
    """The result of a statement. count: of the rows that it returned or changed."""

    rows: list[tuple[Any, ...]]
    count: int

    @property
    def row(self) -> tuple[Any, ...] | None:
        """Return the first row."""
        return self.rows[0] if self.rows else None


def run(*statements: Statement) -> list[Result]:
    """Run statements one after another; return the result of each.

    They are sent together, unless the connection binds parameters on the server, which takes one at a time. Each sees
    what others committed before it began, as always in READ COMMITTED, so one may read what the one before locked.
    """
    if not statements:
        return []
    if getattr(connection.features, "uses_server_side_binding", False):
        return [result for statement in statements for result in send([statement])]
    return send(statements)


def run_groups(groups: Mapping[str, Sequence[Statement]]) -> dict[str, list[Result]]:
    """Run the statements of all groups in their order; return the results of each group."""
    results = iter(run(*[statement for statements in groups.values() for statement in statements]))
    return {name: list(islice(results, len(statements))) for name, statements in groups.items()}


def send(statements: Sequence[Statement]) -> list[Result]:
    """Send statements in one round trip; return the result of each."""
    parameters = [parameter for statement in statements for parameter in statement.parameters]
    results: list[Result] = []
    with connection.cursor() as cursor:
        cursor.execute(";\n".join(statement.text.strip() for statement in statements), parameters)
        while not results or cursor.nextset():
            results.append(Result(cursor.fetchall() if cursor.description else [], cursor.rowcount))
    return results
