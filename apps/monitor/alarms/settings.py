"""To whom alarms are sent."""

from apps.core.sealed import seal
from apps.monitor.alarms.channels import SendError, channels_of
from apps.monitor.alarms.send import ROW, message_of_test
from apps.monitor.models import Alarm, AlarmSettings


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
            send(message_of_test())
            answers[name] = ""
        except SendError as error:
            answers[name] = str(error)
    return answers
