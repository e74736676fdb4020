"""What the processes of a hub have in common: imported by the fork server, from which each of them is forked.

Nothing here may open a connection or a file, or start a thread: each of them would have it.
"""

import gc
import importlib
import os
import traceback

import django

from memoryhub.process.children import FORK_SERVER, name_process, tie_to_parent

# Besides what Django's setup imports. That of the application itself (memoryhub/asgi.py) begins to serve.
NEEDED = (
    "apps.live.services",
    "apps.mcp.services",
    "hnswlib",
    "memoryhub.process.worker",
    "memoryhub.urls",
    "memoryhub.web.gateway",
    "memoryhub.web.server",
    "sentencepiece",
    "servestatic",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
)

# A signal that a terminal sends to all is for the supervisor.
os.setpgid(0, 0)
name_process(FORK_SERVER)
tie_to_parent()
# Nearly all that an import makes stays: looking for garbage meanwhile takes a tenth of its time.
gc.disable()
try:
    django.setup(set_prefix=False)
    for name in NEEDED:
        importlib.import_module(name)
except ImportError as error:
    # The fork server goes on without what cannot be imported, and would not say so.
    traceback.print_exc()
    raise SystemExit(1) from error
# So no collection of garbage needs to look at it later, nor to write into its pages.
gc.freeze()
gc.enable()
