"""Folder names of users: nothing leaves the folder, nothing collides."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.notes.domain.places import MAX_CHARS, folder_name, user_of

USERS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)
HOSTILE = ["..", ".", "/etc/passwd", "a/b", "a\\b", "CON", "con", "nul.md", "a\0b", "Ana", "ana", "ANA", "_", "__"]
HOSTILE += ["\u00e4", "a\u0308"]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_user_id_stays_one_plain_name(number):
    name = folder_name(HOSTILE[number])
    assert re.fullmatch(r"[a-z0-9_-]+", name)
    assert user_of(name) == HOSTILE[number]


def test_no_two_of_them_are_the_same_on_any_disk():
    names = {folder_name(user).casefold() for user in HOSTILE}
    assert len(names) == len(HOSTILE)


@given(USERS)
def test_every_name_fits_on_every_disk_and_leads_back(user):
    name = folder_name(user)
    assert re.fullmatch(r"[a-z0-9_-]+", name)
    assert len(name) <= MAX_CHARS
    assert name not in {"con", "prn", "aux", "nul", "com1", "lpt1"}
    assert user_of(name) in {user, None}


@given(USERS, USERS)
def test_different_users_have_different_folders(one, other):
    assert (folder_name(one) == folder_name(other)) == (one == other)


def test_long_ids_that_differ_at_the_end_differ():
    assert folder_name("é" * 199 + "a") != folder_name("é" * 199 + "b")
    assert user_of(folder_name("é" * 200)) is None


def test_device_names_are_marked():
    assert folder_name("con") == "__con"
    assert user_of("__con") == "con"
    assert user_of("__ana") is None
    assert user_of("Ana") is None
