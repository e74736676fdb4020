"""The ASGI application that `manage.py up` and any ASGI server run."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")

import django

django.setup(set_prefix=False)

from django.conf import settings
from servestatic import ServeStaticASGI

from apps.episodic.selectors import warm_up_archive
from apps.llm.services import warm_up_chat_providers
from apps.semantic.services import end_index, start_index
from memoryhub.web.handler import LifespanApplication, ThreadedASGIHandler

application = LifespanApplication(
    ServeStaticASGI(ThreadedASGIHandler(), root=str(settings.STATIC_ROOT), prefix="static/"), on_shutdown=end_index
)
# Each web process has indexes of its own and starts to load them at once: a request of /readyz reaches only one.
warm_up_archive()
start_index()
warm_up_chat_providers()
