"""How an alarm leaves the hub: by mail, and by an HTTPS request."""

import smtplib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx2
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.utils.translation import gettext as _

from apps.core.http_calls import CallConnection
from apps.monitor.models import AlarmSettings

SEND_SECONDS = 10.0
MAX_URL_CHARS = 2_000
MAIL, WEBHOOK = "mail", "webhook"


class SendError(Exception):
    """A message did not arrive. Its text says why, without the address."""


@dataclass(frozen=True)
class Message:
    """What is sent. title: one line. lines: a sentence each. data: the same for programs."""

    title: str
    lines: Sequence[str]
    data: dict[str, Any]

    @property
    def text(self) -> str:
        """Return all of it as plain text."""
        return "\n".join([self.title, "", *self.lines])


def channels_of(row: AlarmSettings) -> dict[str, Callable[[Message], None]]:
    """Return the channels that are set and can be used, by their names."""
    channels: dict[str, Callable[[Message], None]] = {}
    server = settings.MEMORYHUB.mail
    if row.mail and server is not None:
        channels[MAIL] = partial(send_mail, server, row.mail)
    if url := row.url:
        channels[WEBHOOK] = partial(post, url)
    return channels


def check_url(url: str) -> str:
    """Return what is wrong with the address of a webhook, nothing where it can be used. Its host is not looked up."""
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return _("This is no address.")
    if parts.scheme != "https" or not host:
        return _("The address must begin with https:// and name a host.")
    if parts.username or parts.password:
        return _("The address must not hold a name or a password.")
    if len(url) > MAX_URL_CHARS or any(ord(one) <= 32 for one in url):
        return _("This is no address.")
    return ""


def send_mail(server: Any, address: str, message: Message) -> None:
    """Send a message by the mail server of the settings. Raises SendError."""
    connection = get_connection(
        "django.core.mail.backends.smtp.EmailBackend",
        host=server.host,
        port=server.port,
        username=server.username,
        password=server.password,
        use_ssl=server.is_ssl,
        use_tls=server.is_starttls,
        timeout=SEND_SECONDS,
    )
    try:
        EmailMessage(message.title, message.text, server.sender, [address], connection=connection).send()
    except smtplib.SMTPResponseException as error:
        raise SendError(_("the mail server answered %(code)s") % {"code": error.smtp_code}) from error
    except (smtplib.SMTPException, OSError) as error:
        said = _("the mail server %(host)s cannot be used (%(error)s)")
        raise SendError(said % {"host": server.host, "error": type(error).__name__}) from error


def post(url: str, message: Message) -> None:
    """Post a message to a webhook; its answer is not read. Raises SendError.

    `text` is what Slack, Mattermost and Teams show, `content` what Discord shows.
    """
    body = {"text": message.text, "content": message.text, **message.data}
    connection = CallConnection()
    try:
        with (
            connection.watch(time.monotonic() + SEND_SECONDS),
            connection.http.stream("POST", url, json=body, timeout=SEND_SECONDS) as answer,
        ):
            status = answer.status_code
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise SendError(_("the webhook cannot be reached (%(error)s)") % {"error": type(error).__name__}) from error
    finally:
        connection.http.close()
    if not 200 <= status < 300:
        raise SendError(_("the webhook answered %(code)s") % {"code": status})
