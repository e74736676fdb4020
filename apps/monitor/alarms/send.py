"""To whom alarms are sent; each problem once when it begins, and once when it is over."""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.core.db.session_locks import try_session_lock
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.sealed import seal
from apps.monitor.alarms.channels import Message, SendError, channels_of
from apps.monitor.domain.problems import Problem, ProblemSeverity
from apps.monitor.models import Alarm, AlarmSettings
from apps.monitor.problems import current_problems

logger = logging.getLogger(__name__)

ROW = 1
# Any number that no other advisory lock of this project uses.
ALARMS_LOCK = 0x6D68_616C
# A problem that comes back sooner never ended: it is no two alarms.
CALM = timedelta(minutes=2)
# The worker looks each minute. After so long without a look a web process does.
OVERDUE = timedelta(seconds=90)
BEGAN, ENDED = "began", "ended"
# With these not all problems are known, so that none is over.
UNKNOWN = {"database_unreachable", "problems_unknown"}


def alarms_send(*, only_overdue: bool = False, clock: Clock = SYSTEM_CLOCK) -> int:
    """Send what began and what is over since the last time; return how many messages were sent.

    A message that does not arrive is sent again the next time. only_overdue: unless the worker has looked recently.
    Call it outside a transaction.
    """
    now = utcnow(clock)
    row = AlarmSettings.objects.filter(pk=ROW).first()
    if row is None or (only_overdue and row.looked_at is not None and now - row.looked_at < OVERDUE):
        return 0
    with try_session_lock(ALARMS_LOCK) as is_free:
        return look(row, now) if is_free else 0


def look(row: AlarmSettings, now: datetime) -> int:
    """Compare the problems with the alarms, and send what is new. Return how many messages were sent."""
    AlarmSettings.objects.filter(pk=ROW).update(looked_at=now)
    channels = channels_of(row)
    if not channels:
        Alarm.objects.all().delete()
        return 0
    with translation.override(row.language):
        note_problems([one for one in current_problems() if one.severity >= row.least], now)
        alarms = list(Alarm.objects.order_by("-severity", "began_at", "pk"))
        count = 0
        for name, send in channels.items():
            began = [one for one in alarms if one.ended_at is None and name not in one.sent]
            ended = [one for one in alarms if is_over(one, now) and one.sent.get(name) == BEGAN]
            if not began and not ended:
                continue
            try:
                send(message_of(began, ended))
            except SendError as error:
                logger.warning("an alarm could not be sent by %s: %s", name, error)
                note_failure(name, str(error), now)
                continue
            count += 1
            note_sent(name, began, ended, now)
    for alarm in alarms:
        if is_over(alarm, now) and BEGAN not in {alarm.sent.get(name) for name in channels}:
            alarm.delete()
    return count


def note_problems(problems: Sequence[Problem], now: datetime) -> None:
    """Make an alarm of each new problem, and note which are not there any more."""
    there = {(one.code, one.subject[:500]): one for one in problems}
    known = {(one.code, one.subject): one for one in Alarm.objects.all()}
    for (code, subject), problem in there.items():
        words = {"severity": int(problem.severity), "sentence": problem.sentence, "advice": problem.advice}
        if (code, subject) in known:
            Alarm.objects.filter(code=code, subject=subject).update(ended_at=None, **words)
        else:
            began = {"began_at": problem.since or now, **words}
            Alarm.objects.get_or_create(code=code, subject=subject, defaults=began)
    if not {one.code for one in problems} & UNKNOWN:
        gone = [one.pk for key, one in known.items() if key not in there]
        Alarm.objects.filter(pk__in=gone, ended_at=None).update(ended_at=now)


def is_over(alarm: Alarm, now: datetime) -> bool:
    """Return whether a problem has not come back for a while."""
    return alarm.ended_at is not None and now - alarm.ended_at >= CALM


def note_sent(name: str, began: Iterable[Alarm], ended: Iterable[Alarm], now: datetime) -> None:
    """Note that a channel has sent these alarms."""
    for alarms, word in ((began, BEGAN), (ended, ENDED)):
        for alarm in alarms:
            alarm.sent[name] = word
            Alarm.objects.filter(pk=alarm.pk).update(sent=alarm.sent)
    failures = AlarmSettings.objects.values_list("failures", flat=True).get(pk=ROW)
    failures.pop(name, None)
    AlarmSettings.objects.filter(pk=ROW).update(sent_at=now, failures=failures)


def note_failure(name: str, said: str, now: datetime) -> None:
    """Note why a channel could not send, for the page of the settings."""
    failures = AlarmSettings.objects.values_list("failures", flat=True).get(pk=ROW)
    AlarmSettings.objects.filter(pk=ROW).update(failures={**failures, name: f"{now:%Y-%m-%d %H:%M} UTC: {said}"})


def message_of(began: Sequence[Alarm], ended: Sequence[Alarm]) -> Message:
    """Return one message about all that began and all that is over."""
    parts = []
    if began:
        parts.append(ngettext("%(n)s problem", "%(n)s problems", len(began)) % {"n": len(began)})
    if ended:
        parts.append(ngettext("%(n)s is over", "%(n)s are over", len(ended)) % {"n": len(ended)})
    lines = [f"{one.sentence} {one.advice}".strip() for one in began]
    lines += [_("Over: %(sentence)s") % {"sentence": one.sentence} for one in ended]
    data = {"hub": hub_name(), "began": [data_of(one) for one in began], "ended": [data_of(one) for one in ended]}
    return Message(f"MemoryHub {hub_name()}: {', '.join(parts)}", [*lines, *link_lines()], data)


def data_of(alarm: Alarm) -> dict[str, str]:
    """Return an alarm for programs."""
    return {
        "code": alarm.code,
        "severity": ProblemSeverity(alarm.severity).name.lower(),
        "sentence": alarm.sentence,
        "advice": alarm.advice,
        "since": alarm.began_at.isoformat(),
    }


def hub_name() -> str:
    """Return what distinguishes this hub from others."""
    config = settings.MEMORYHUB
    return str(config.public_url or f"{config.host}:{config.port}").removeprefix("https://").removeprefix("http://")


def link_lines() -> list[str]:
    """Return where to look further, where the address of the hub is known."""
    url = settings.MEMORYHUB.public_url
    return [f"{url}/admin/"] if url else []


def alarm_settings() -> AlarmSettings:
    """Return the settings; those of a hub that sends nothing are not in the database."""
    return AlarmSettings.objects.filter(pk=ROW).first() or AlarmSettings(pk=ROW)


def alarm_settings_save(*, mail: str, url: str | None, least: int, language: str) -> AlarmSettings:
    """Save to whom alarms are sent. url: of the webhook; None keeps the present one, and nothing removes it.

    A channel whose address changes is sent what is wrong now.
    """
    row = alarm_settings()
    changed = [name for name, is_new in (("mail", mail != row.mail), ("webhook", url not in (None, row.url))) if is_new]
    fields = {
        "mail": mail,
        "sealed_url": row.sealed_url if url is None else seal(url) if url else "",
        "least": least,
        "language": language,
        "failures": {name: said for name, said in row.failures.items() if name not in changed},
    }
    row, _ = AlarmSettings.objects.update_or_create(pk=ROW, defaults=fields)
    for alarm in Alarm.objects.all() if changed else ():
        alarm.sent = {name: word for name, word in alarm.sent.items() if name not in changed}
        Alarm.objects.filter(pk=alarm.pk).update(sent=alarm.sent)
    return row


def alarm_test() -> dict[str, str]:
    """Send a test by each channel; return what went wrong by channel, nothing where it arrived."""
    answers = {}
    for name, send in channels_of(alarm_settings()).items():
        try:
            line = _("This is a test. When something of the hub fails, a message like this one says so.")
            data = {"hub": hub_name(), "test": True, "began": [], "ended": []}
            send(Message(f"MemoryHub {hub_name()}: {_('test')}", [line, *link_lines()], data))
            answers[name] = ""
        except SendError as error:
            answers[name] = str(error)
    return answers
