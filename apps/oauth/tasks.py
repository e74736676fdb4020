"""The tasks of the sign-in of apps, which django-q2 runs by these names."""

from apps.oauth.clients import sign_ins_trim


def trim() -> None:
    """Delete codes, tokens and apps that are over; hourly."""
    sign_ins_trim()
