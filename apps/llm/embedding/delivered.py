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


def read_checked(folder: Path, what: str) -> dict[str, bytes]:
    """Return the content of each file that `model.json` names, by its name. Raises DeliveredModelError."""
    told = read_description(folder, what)["sha256"]
    try:
        content = {name: (folder / name).read_bytes() for name in told}
    except OSError as error:
        raise unreadable(what, error) from error
    for name, file in content.items():
        if hashlib.sha256(file).hexdigest() != told[name]:
            raise DeliveredModelError(f"{name} of {what} is damaged: its SHA-256 differs.")
    return content


def unreadable(what: str, error: Exception) -> DeliveredModelError:
    """Return that the files of a model cannot be read."""
    return DeliveredModelError(f"The files of {what} cannot be read ({type(error).__name__}).")
