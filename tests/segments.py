"""Segment files of the hub under test, in its data directory."""

from pathlib import Path

from django.conf import settings

from apps.episodic.domain.segment_file.reader import SegmentFile


def segment_path(file_name: str) -> Path:
    """Return the path of a segment file."""
    return Path(settings.TIMELINE_DIR) / file_name


def path_of(file: SegmentFile) -> Path:
    """Return where a file of a disk is."""
    assert isinstance(file.place, Path)
    return file.place
