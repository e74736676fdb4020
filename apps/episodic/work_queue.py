"""Names that queued and finished tasks of 0.1.0 hold: kept so that they run, and can be read, after an upgrade.

Nothing else may import this module.
"""

from apps.episodic.maintenance.jobs import MessageSeverity as Tone
from apps.episodic.tasks import work_part
