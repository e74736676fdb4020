"""Comparison of the file of a segment with its row in the catalogue."""

from dataclasses import fields

from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError, SegmentFacts
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.models import Segment
from apps.episodic.store.files import segment_path


def file_open(segment: Segment) -> SegmentFile:
    """Open the file of a segment, and compare its tables with the catalogue. Raises SegmentDamagedError."""
    file = SegmentFile.open(segment_path(segment.file_name), segment.uuid)
    for field in fields(SegmentFacts):
        if getattr(file.summary, field.name) != getattr(segment, field.name):
            raise SegmentDamagedError(Damage.MISMATCH, f"Its {field.name} is not what the catalogue says.")
    return file


def file_verify(segment: Segment) -> SegmentFile:
    """Open the file of a segment, and verify every byte of it. Raises SegmentDamagedError."""
    file = file_open(segment)
    file.verify(segment.sha256)
    return file
