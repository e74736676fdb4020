"""The OpenAPI document, made once in a run: that takes seconds, and several processes want it."""

import fcntl
import json
import os
from functools import cache
from pathlib import Path
from typing import Any


@cache
def document() -> dict[str, Any]:
    """Return the document as it is served in JSON."""
    from drf_spectacular.generators import SchemaGenerator
    from drf_spectacular.renderers import OpenApiJsonRenderer

    place = Path(os.environ["MEMORYHUB_DATA_DIR"]) / "openapi.json"
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            made = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
            place.write_bytes(OpenApiJsonRenderer().render(made, renderer_context={}))
    loaded: dict[str, Any] = json.loads(place.read_bytes())
    return loaded


@cache
def operations() -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Return method, path and description of each operation by its id."""
    return {
        operation["operationId"]: (method, path, operation)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    }
