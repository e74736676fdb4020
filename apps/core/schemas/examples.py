"""Examples of the API: one for each operation, shown in the OpenAPI document and executed by the tests.

An app has its own in `rest/examples.yaml`, by operation id; what several of them share stands above, with an anchor.
What another app shares is written `!like {of: apps.semantic.rest lisbon, content: Other words.}`, with what differs.
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


class ExamplesLoader(yaml.CSafeLoader):
    """Reads examples. In C it is safe as well, and ten times as fast."""


def construct_like(loader: ExamplesLoader, node: yaml.MappingNode) -> dict[str, Any]:
    """Return what another app shares under a name, with other values of some members."""
    others = loader.construct_mapping(node, deep=True)
    package, name = others.pop("of").split()
    return {**read_file(package)["shared"][name], **others}


ExamplesLoader.add_constructor("!like", construct_like)


@cache
def read_file(package: str) -> Mapping[str, Any]:
    """Return what is in `examples.yaml` of a package; nothing where it has no such file."""
    file = files(package).joinpath("examples.yaml")
    return yaml.load(file.read_text("utf-8"), Loader=ExamplesLoader) if file.is_file() else {}  # noqa: S506


@cache
def read_examples(package: str) -> Mapping[str, Example]:
    """Return the examples of `examples.yaml` in the package of an app's views; none where it has no such file."""
    return {operation: Example(**example) for operation, example in read_file(package).get("examples", {}).items()}
