"""Who looks at what in the cockpit, so that two people do not work on the same."""

from django.conf import settings
from django.db import models


class Presence(models.Model):
    """The decision that an account looks at. It is true for some seconds only.

    The table is unlogged: a glance costs no write-ahead log, and after a crash of the database none is true. receipt:
    the key of the decision, which may be gone by now.
    """

    login = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+")
    receipt = models.BigIntegerField()
    seen_at = models.DateTimeField()

    class Meta:
        verbose_name = "presence"
        verbose_name_plural = "presences"

    def __str__(self) -> str:
        return f"{self.login} at {self.receipt}"
