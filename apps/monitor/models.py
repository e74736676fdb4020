"""Numbers over time: a sample of each series every minute, one an hour after two days, for a year. And alarms."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core.sealed import unseal
from apps.monitor.domain.problems import ProblemSeverity

# From which severity on problems are sent.
ALARM_LEVELS = [
    (int(ProblemSeverity.CRITICAL), _("only what is critical")),
    (int(ProblemSeverity.WARNING), _("warnings, too")),
]


class Sample(models.Model):
    """The value of one series at one moment; of an hourly sample, the mean of its hour, or the sum of a counter."""

    series = models.CharField(max_length=60)
    at = models.DateTimeField(help_text="The beginning of the minute or hour.")
    is_hourly = models.BooleanField(default=False)
    value = models.FloatField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # A sample that two workers take at once is one; also the index that charts read.
            models.UniqueConstraint(fields=["series", "is_hourly", "at"], name="monitor_sample_once"),
        ]

    def __str__(self) -> str:
        return f"{self.series} {self.at:%Y-%m-%d %H:%M}"


class CounterReading(models.Model):
    """The counters of one machine at its last sample.

    totals: by series, a number, or the cumulative counts of a histogram.
    """

    host = models.CharField(max_length=255, primary_key=True)
    at = models.DateTimeField()
    totals = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.host} {self.at:%Y-%m-%d %H:%M}"


class AlarmSettings(models.Model):
    """To whom alarms are sent: one row, made when that is first set. Without an address nothing is sent.

    sealed_url: of the webhook, which whoever knows it may post to. language: of what is sent. looked_at: when problems
    were last looked at. failures: by channel, why the last attempt failed.
    """

    mail = models.EmailField(_("Mail to"), blank=True, default="")
    sealed_url = models.TextField(blank=True, default="")
    least = models.PositiveSmallIntegerField(
        _("Send"),
        default=int(ProblemSeverity.WARNING),
        choices=ALARM_LEVELS,
    )
    language = models.CharField(max_length=20, default="en")
    looked_at = models.DateTimeField("last checked", null=True)
    sent_at = models.DateTimeField(null=True)
    failures = models.JSONField(default=dict)

    class Meta:
        verbose_name = _("alarm settings")
        verbose_name_plural = _("alarm settings")
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(name="monitor_alarmsettings_one", condition=models.Q(pk=1)),
        ]

    def __str__(self) -> str:
        return str(self._meta.verbose_name)

    @property
    def url(self) -> str:
        """Return the address of the webhook, nothing without one."""
        return unseal(self.sealed_url) if self.sealed_url else ""


class Alarm(models.Model):
    """A problem that alarms are about, until its end was sent as well. Written by `alarms` only.

    ended_at: since when it is not there. sent: by channel, `began` or `ended`, whichever was sent last.
    """

    code = models.CharField(max_length=100)
    subject = models.CharField(max_length=500, blank=True, default="")
    severity = models.PositiveSmallIntegerField()
    sentence = models.TextField()
    advice = models.TextField(blank=True, default="")
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    sent = models.JSONField(default=dict)

    class Meta:
        verbose_name = _("alarm")
        verbose_name_plural = _("alarms")
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # A problem that two processes see at once is one alarm.
            models.UniqueConstraint(fields=["code", "subject"], name="monitor_alarm_once"),
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.subject}".strip()
