"""Run the whole hub: `python manage.py up`."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from memoryhub.process import supervisor


class Command(BaseCommand):
    help = (
        "Prepare the data directory, start database, web server and worker, and keep them running until "
        "Ctrl-C. Settings are environment variables (docs/operate/configuration.md)."
    )
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        sys.exit(supervisor.run())
