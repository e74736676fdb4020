"""What the processes of a hub run, each in a fork of the fork server (`memoryhub/process/children.py`)."""

import logging
import os
from collections.abc import Mapping
from multiprocessing.connection import Connection

from memoryhub.config.hub import Config, read_config


def run_web() -> int:
    """Serve the web; return the exit code."""
    from memoryhub.web.server import serve

    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s")
    return serve(read_again())


def run_worker() -> None:
    """Work in the background."""
    from memoryhub.process.worker import work

    read_again()
    work()


def run_preparation(secrets: Mapping[str, str], answer: Connection) -> None:
    """Prepare the hub, with the secrets of a first start, which no other process has; send what it made as JSON."""
    from memoryhub.process.commandline import execute

    os.environ.update(secrets)
    read_again()
    execute(["manage.py", "prepare", "--credentials-fd", str(os.dup(answer.fileno()))])


def read_again() -> Config:
    """Read the configuration again and make it that of this process; return it.

    The fork server imported the settings before the preparation chose the default user of a fresh hub.
    """
    from django.conf import settings

    settings.MEMORYHUB = read_config()
    return settings.MEMORYHUB
