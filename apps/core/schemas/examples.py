"""Examples of the API: one for each operation, shown in the OpenAPI document and executed by the tests.

An app has its own in `rest/examples.py`, as `EXAMPLES` by operation id. Together they are one story: the household
`home` of Ana and Ben, and their assistant.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Example:
    """A call of an operation and its answer.

    summary: the operation in a few words, as lists of the documentation have it.
    answer: the JSON of the answer, or the text of one that is no JSON; None for an answer without a body.
    body: the JSON of the request, or its text; None for a request without a body.
    path, query, headers: the parameters of the request by name.
    after: the operations whose examples come before this one, as it names what they made.
    """

    summary: str
    answer: Any = None
    status: int = 200
    body: Any = None
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str | int | bool] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    after: tuple[str, ...] = ()
