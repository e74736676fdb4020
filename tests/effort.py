"""How much property tests try: a little in the inner loop, all of it where `CI` is set, as the gate does."""

import os

from hypothesis import HealthCheck, settings

IS_THOROUGH = bool(os.environ.get("CI"))
# Whether tests in a browser load every page in each theme and width, which takes half an hour.
IS_WHOLE_WALK = bool(os.environ.get("WHOLE_WALK"))


def examples(count: int) -> int:
    """Return how many examples to try of `count`: all of them for the gate, an eighth otherwise."""
    return count if IS_THOROUGH else max(3, count // 8)


def load_profile() -> None:
    """Let tests that name no number of examples try 100 for the gate, and 12 otherwise."""
    quick = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
    settings.register_profile("quick", max_examples=examples(100), deadline=None, suppress_health_check=quick)
    settings.load_profile("quick")
