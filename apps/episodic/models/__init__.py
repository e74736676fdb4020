"""The tables of the timeline."""

from apps.episodic.models.event import TimelineEvent
from apps.episodic.models.retention import RetentionPolicy
from apps.episodic.models.segment import Catalogue, Segment, TimelineWarning

__all__ = ["Catalogue", "RetentionPolicy", "Segment", "TimelineEvent", "TimelineWarning"]
