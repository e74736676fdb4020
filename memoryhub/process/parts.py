"""What the processes of a hub run, each in a fork of the fork server (`memoryhub/process/children.py`)."""

import logging
import os
from collections.abc import Mapping
from multiprocessing.connection import Connection


def run_web() -> int:
    """Serve the web; return the exit code."""
    from memoryhub.config.hub import read_config
    from memoryhub.web.server import serve

    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s")
    return serve(read_config())


def run_worker() -> None:
    """Work in the background."""
    from memoryhub.process.commandline import execute

    execute(["manage.py", "qcluster"])


def run_preparation(secrets: Mapping[str, str], answer: Connection) -> None:
    """Prepare the hub, with the secrets of a first start, which no other process has; send what it made as JSON."""
    from django.conf import settings

    from memoryhub.config.hub import read_config
    from memoryhub.process.commandline import execute

    os.environ.update(secrets)
    settings.MEMORYHUB = read_config()
    execute(["manage.py", "prepare", "--credentials-fd", str(os.dup(answer.fileno()))])
