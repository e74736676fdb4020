"""What everyone would expect of everyday statements, with the words and the judge of pairs that are delivered."""

import pytest

from apps.rules.domain.engine.detection import detect
from apps.rules.domain.engine.signals import DetectionConfig
from tests.unit.rules.records import record

CHANGED = [
    ("Ana works at Google.", "Ana works at Apple."),
    ("I live in Munich", "I live in Berlin"),
    ("Maya works at Farfetch.", "Maya works at Spotify."),
    ("My boss is Karin.", "My boss is Rolf."),
    ("Tom's employer is Siemens.", "Tom's employer is Bosch."),
    ("The server runs on port 8080.", "The server runs on port 9090."),
    ("用戶在台積電上班", "用戶在聯發科上班"),
    ("Ich arbeite bei Siemens.", "Ich arbeite bei Bosch."),
    ("Our database is MySQL.", "We moved all of our data from MySQL to PostgreSQL."),
]
KEPT = [
    ("Maya grew up in Leeds.", "Maya speaks Portuguese."),
    ("Oskar lives in the flat on the ground floor.", "Oskar walks to the harbour on dry afternoons."),
    ("I am allergic to peanuts.", "My blood type is B positive."),
    ("Ana likes tea.", "Ben likes coffee."),
    ("My blood pressure on 7 December was 128/82.", "My blood pressure on 16 December was 135/85."),
    ("美雅在花蓮長大", "美雅會說葡萄牙語"),
]


@pytest.mark.parametrize(("older", "newer"), CHANGED)
def test_a_change_is_seen(older: str, newer: str) -> None:
    assert detect(record(newer, days=1), record(older), DetectionConfig()).contradicts


@pytest.mark.parametrize(("older", "newer"), KEPT)
def test_other_facts_are_left_alone(older: str, newer: str) -> None:
    assert not detect(record(newer, days=1), record(older), DetectionConfig()).is_conflict
