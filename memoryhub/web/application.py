"""What answers HTTP requests: Django and the static files, with nothing running yet.

The parent of the web processes makes it before it forks them, so that they have it in memory once.
"""

import gc

from django.conf import settings
from servestatic import ServeStaticASGI

from memoryhub.web.access_log import AccessLog
from memoryhub.web.handler import ThreadedASGIHandler

http = ServeStaticASGI(ThreadedASGIHandler(), root=str(settings.STATIC_ROOT), prefix="static/")
if settings.MEMORYHUB.access_log != "off":
    http = AccessLog(http, settings.MEMORYHUB.access_log)
# What was imported stays for good: no collection of garbage, in which no other thread runs, needs to look at it.
gc.collect()
gc.freeze()
