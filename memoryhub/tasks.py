"""The tasks of the composition root, which django-q2 runs by these names."""

from typing import Any

from memoryhub.sample import load_sample, unload_sample


def sample_load(run: str) -> dict[str, Any]:
    """Bring in the sample household; when it is asked for on the first page."""
    report = load_sample(advance=lambda _: None)
    return {"finished": True, "memories": report.memories, "events": report.events}


def sample_unload(run: str) -> dict[str, Any]:
    """Remove the sample household; when it is asked for on the first page."""
    report = unload_sample()
    return {"finished": True, "memories": report.memories, "events": report.events}
