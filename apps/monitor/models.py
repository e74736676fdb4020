"""Numbers over time: a sample of each series every minute, one an hour after two days, for a year."""

from typing import ClassVar

from django.db import models


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
