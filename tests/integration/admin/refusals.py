"""Pages of errors without the navigation of the admin, for tests that ask for many of them."""

import pytest


def leave_out_navigation(patch: pytest.MonkeyPatch) -> None:
    """Have pages of errors without the navigation."""
    patch.setattr("apps.core.pages.errors.within_admin", lambda request, problem: None)


@pytest.fixture
def plain_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pages of errors without the navigation, whose rendering is most of what a refusal costs.

    The navigation is that of the pages that open, and test_error_pages.py looks at it around errors.
    """
    leave_out_navigation(monkeypatch)
