"""Shorthands for tests of readers."""

from textwrap import dedent

from apps.sync.domain.knowledge import Convention, Layer, ParsedFile, ReadSettings, RefusedFile
from apps.sync.domain.readers.read import read_file


def read(path: str, text: str | bytes, convention: Convention = Convention.AUTO) -> ParsedFile | RefusedFile:
    data = text if isinstance(text, bytes) else dedent(text).lstrip("\n").encode()
    return read_file(path, data, ReadSettings(convention=convention, layer=Layer.TEAM))


def parsed(path: str, text: str, convention: Convention = Convention.AUTO) -> ParsedFile:
    file = read(path, text, convention)
    assert isinstance(file, ParsedFile), file
    return file


def refused(path: str, text: str | bytes, convention: Convention = Convention.AUTO) -> RefusedFile:
    file = read(path, text, convention)
    assert isinstance(file, RefusedFile), file
    return file
