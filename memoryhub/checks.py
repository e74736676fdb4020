"""System checks of the configuration (`manage.py check`, with `--deploy` before real use)."""

import ipaddress
import os
from typing import Any

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.checks import CheckMessage, Tags, register
from django.core.checks import Warning as Problem
from django.core.exceptions import ValidationError

from apps.llm.services import RESERVATION_MARGIN_MS


@register(Tags.files)
def check_data_directory(**_: Any) -> list[CheckMessage]:
    """Check memoryhub.W001: the data directory can be written."""
    existing = settings.MEMORYHUB.data_dir
    while not existing.exists():
        existing = existing.parent
    if os.access(existing, os.W_OK | os.X_OK):
        return []
    return [Problem(f"MEMORYHUB_DATA_DIR: {existing} cannot be written by this user.", id="memoryhub.W001")]


@register(Tags.security, deploy=True)
def check_public_url(**_: Any) -> list[CheckMessage]:
    """Check memoryhub.W002: a deployed hub has an https address, so that keys and cookies are encrypted."""
    if settings.MEMORYHUB.https:
        return []
    return [
        Problem(
            "MEMORYHUB_PUBLIC_URL is no https address, so API keys and passwords are sent unencrypted.",
            hint="Put a TLS proxy in front and set MEMORYHUB_PUBLIC_URL=https://….",
            id="memoryhub.W002",
        )
    ]


@register(Tags.security)
def check_debug(**_: Any) -> list[CheckMessage]:
    """Check memoryhub.W003: debug pages, which show settings and queries, are not offered to other machines."""
    config = settings.MEMORYHUB
    try:
        is_loopback = ipaddress.ip_address(config.host).is_loopback
    except ValueError:
        is_loopback = config.host == "localhost"
    if not config.debug or is_loopback:
        return []
    return [
        Problem(
            f"MEMORYHUB_DEBUG is on while MEMORYHUB_HOST={config.host} admits other machines.",
            hint="Unset one of the two.",
            id="memoryhub.W003",
        )
    ]


@register(Tags.security)
def check_admin_password(**_: Any) -> list[CheckMessage]:
    """Check memoryhub.W004: the password of the first admin is not weak."""
    password = settings.MEMORYHUB.admin_password
    if password is None:
        return []
    try:
        validate_password(password)
    except ValidationError as error:
        return [
            Problem(
                f"MEMORYHUB_ADMIN_PASSWORD is weak: {' '.join(error.messages)}",
                hint="Leave it unset, and the first start generates a strong one.",
                id="memoryhub.W004",
            )
        ]
    return []


@register()
def check_reservation(**_: Any) -> list[CheckMessage]:
    """Check memoryhub.W005: the reservation for an attempt lasts as long as the attempt may take."""
    config = settings.MEMORYHUB
    longest = max((model.timeout_seconds for model in (config.chat.primary, config.chat.fallback) if model), default=0)
    most = config.guards.reservation_seconds - RESERVATION_MARGIN_MS / 1_000
    if longest <= most:
        return []
    return [
        Problem(
            f"An attempt to call a chat model may take {longest:g} seconds but is ended after {most:g}, shortly before "
            "its reservation expires.",
            hint="Raise MEMORYHUB_CHAT_RESERVATION_SECONDS, or lower MEMORYHUB_CHAT_TIMEOUT_SECONDS.",
            id="memoryhub.W005",
        )
    ]
