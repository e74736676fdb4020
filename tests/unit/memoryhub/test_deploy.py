"""The files of `deploy/`: they can be read, and name only settings that the hub has."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[3]
DEPLOY = PROJECT / "deploy"
DOCUMENTED = (PROJECT / "docs/operate/configuration.md").read_text()
# What other programs read.
OF_OTHERS = {"FORWARDED_ALLOW_IPS", "PYTHONDONTWRITEBYTECODE"}


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return loaded


def kubernetes() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))


def named_settings() -> dict[str, set[str]]:
    """Return the settings of the hub that each file gives it."""
    [pods] = [one for one in kubernetes() if one["kind"] == "StatefulSet"]
    [container] = pods["spec"]["template"]["spec"]["containers"]
    image = "".join(re.findall(r"^ENV (.*)$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)[-1:])
    return {
        "compose.yaml": {name for each in ("hub1", "hub2") for name in compose()["services"][each]["environment"]},
        "kubernetes.yaml": {one["name"] for one in container["env"]},
        "Dockerfile": set(re.findall(r"(\w+)=", image)),
    }


@pytest.mark.parametrize("file", ["compose.yaml", "kubernetes.yaml", "Dockerfile"])
def test_every_setting_is_one_of_the_hub(file: str) -> None:
    names = named_settings()[file] - OF_OTHERS
    assert names
    assert [name for name in sorted(names) if f"`{name}`" not in DOCUMENTED] == []


def test_hosts_of_compose_share_what_hosts_must_share_and_nothing_else() -> None:
    mounted = [
        dict(volume.split(":") for volume in compose()["services"][name]["volumes"]) for name in ("hub1", "hub2")
    ]
    assert set(mounted[0]) & set(mounted[1]) == {"timeline", "prompts"}
    assert {mounted[0][name] for name in ("timeline", "prompts")} == {"/data/timeline", "/data/prompts"}
    assert mounted[0]["hub1"] == mounted[1]["hub2"] == "/data"
    assert set(mounted[0]) | set(mounted[1]) | {"database"} == set(compose()["volumes"])


def test_every_secret_of_compose_is_in_the_example() -> None:
    asked = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text()))
    given = set(re.findall(r"^(\w+)=", (DEPLOY / "example.env").read_text(), re.MULTILINE))
    assert asked == given


def test_no_secret_is_written_down() -> None:
    values = re.findall(r"^(?!PORT|MEMORYHUB_PUBLIC_URL)\w+=(.*)$", (DEPLOY / "example.env").read_text(), re.MULTILINE)
    assert set(values) == {""}


def test_pods_share_the_folders_of_files() -> None:
    [pods] = [one for one in kubernetes() if one["kind"] == "StatefulSet"]
    [container] = pods["spec"]["template"]["spec"]["containers"]
    shared = {one["mountPath"]: one["subPath"] for one in container["volumeMounts"] if one["name"] == "files"}
    assert shared == {"/data/timeline": "timeline", "/data/prompts": "prompts"}
    [claim] = [one for one in kubernetes() if one["kind"] == "PersistentVolumeClaim"]
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
