"""The tables of the timeline."""

from apps.episodic.models.event import RetentionPolicy, TimelineEvent
from apps.episodic.models.segment import Catalogue, Segment, TimelineWarning
