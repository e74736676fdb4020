"""The admin pages of the timeline; importing this package registers them."""

from apps.episodic.admin import events as events
from apps.episodic.admin import retention as retention
from apps.episodic.admin import segments as segments
from apps.episodic.admin import warnings as warnings
