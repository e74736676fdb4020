"""Examples of the API: one for each operation, shown in the OpenAPI document and executed by the tests.

An app has its own in `rest/examples.yaml`, by operation id; what several of them share stands above, with an anchor.
Together they are one story: the household `home` of Ana and Ben, and their assistant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import yaml


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
    after: Sequence[str] = ()


@cache
def read_examples(package: str) -> Mapping[str, Example]:
    """Return the examples of `examples.yaml` in the package of an app's views; none where it has no such file."""
    file = files(package).joinpath("examples.yaml")
    if not file.is_file():
        return {}
    # The loader in C is safe as well, and ten times as fast.
    written = yaml.load(file.read_text("utf-8"), Loader=yaml.CSafeLoader)
    return {operation: Example(**example) for operation, example in written["examples"].items()}
