"""Models that come with the product: a folder with `model.json`, which has the name and the SHA-256 of its files."""

import hashlib
import json
from pathlib import Path
from typing import Any


class DeliveredModelError(Exception):
    """The files of a delivered model are missing or damaged."""


def read_description(folder: Path, what: str) -> dict[str, Any]:
    """Return what `model.json` says. what: the model, for the error. Raises DeliveredModelError."""
    try:
        told: dict[str, Any] = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise unreadable(what, error) from error
    return told


def checked_files(folder: Path, what: str) -> dict[str, Path]:
    """Return the files that `model.json` names, by their names, which are as it says. Raises DeliveredModelError."""
    told = read_description(folder, what)["sha256"]
    for name, digest in told.items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise unreadable(what, error) from error
        if found != digest:
            raise DeliveredModelError(f"{name} of {what} is damaged: its SHA-256 differs.")
    return {name: folder / name for name in told}


def unreadable(what: str, error: Exception) -> DeliveredModelError:
    """Return that the files of a model cannot be read."""
    return DeliveredModelError(f"The files of {what} cannot be read ({type(error).__name__}).")
