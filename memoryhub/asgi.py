"""The ASGI application that `manage.py up` and any ASGI server run."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")

import django

django.setup(set_prefix=False)

from django.conf import settings
from servestatic import ServeStaticASGI

from apps.core.rest.asgi import ThreadedASGIHandler

application = ServeStaticASGI(ThreadedASGIHandler(), root=str(settings.STATIC_ROOT), prefix="static/")
