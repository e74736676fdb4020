"""The ASGI application that `manage.py up` and any ASGI server run."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")

import django
from django.apps import apps

if not apps.ready:  # In a process of `manage.py up` they are: it is a fork of one that has imported them.
    django.setup(set_prefix=False)

from apps.core.db.watch import database_watch
from apps.core.health import begin_web_process, end_web_process
from apps.episodic.selectors import warm_up_archive
from apps.live.services import begin_live, end_live, live_application
from apps.llm.services import warm_up_chat_providers
from apps.mcp.services import end_engine
from apps.monitor.services import begin_problem_watch, end_problem_watch
from apps.notes.services import end_notes_watch, start_notes_watch
from apps.semantic.services import end_index, start_index
from memoryhub.web.application import http
from memoryhub.web.gateway import Gateway


def end_process() -> None:
    """Write what lags behind, and say that this process ends."""
    end_live()
    end_engine()
    end_notes_watch()
    end_problem_watch()
    end_index()
    end_web_process()


application = Gateway(http, on_shutdown=end_process, websocket=live_application, on_startup=begin_live)
# Each web process has indexes of its own and starts to load them at once: a request of /readyz reaches only one.
database_watch().begin()
warm_up_archive()
start_index()
warm_up_chat_providers()
start_notes_watch()
begin_web_process()
begin_problem_watch()
