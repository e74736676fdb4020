"""Take the pictures of the documentation again, from a hub with the sample household that is started for them.

    uv run python -m tests.pictures                    # all of them, into docs/pictures
    uv run python -m tests.pictures home decision      # some of them
    uv run python -m tests.pictures --into /tmp        # elsewhere

Needs a Chromium. Ends with 1 when a page does not answer or a picture weighs too much.
"""

import argparse
import io
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from tests.browser import BROWSER, FLAGS, NO_BROWSER
from tests.pictures import ALL, MAX_BYTES, Picture
from tests.places import make_directory
from tests.system.hub import PROJECT, Hub

PICTURES = PROJECT / "docs" / "pictures"
FILL = "from tests.pictures.world import main; main()"
WIDTH, SCALE = 1200, 1.5


@contextmanager
def filled_hub() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the address of a hub that is filled, and what the world has printed."""
    place = make_directory()
    (place / "files").mkdir()
    hub = Hub(
        place / "hub", MEMORYHUB_SYNC_ROOTS=str(place / "files"), PYTHONPATH=str(PROJECT), MEMORYHUB_EMBEDDER="minilm"
    )
    try:
        hub.make_cluster()
        hub.start()
        done = hub.command("shell", "-v", "0", "-c", FILL)
        assert done.returncode == 0, done.stderr
        yield f"http://127.0.0.1:{hub.port}", json.loads(done.stdout.splitlines()[-1])
    finally:
        hub.end()
        shutil.rmtree(place, ignore_errors=True)


def take(browser: Browser, base: str, world: dict[str, Any], picture: Picture, theme: Any) -> bytes:
    """Return a page as PNG. Raises AssertionError when it does not answer with 200."""
    path = world["paths"][picture.name]
    with browser.new_context(
        viewport={"width": WIDTH, "height": picture.height}, device_scale_factor=SCALE, color_scheme=theme,
        locale="en-US", timezone_id="UTC", reduced_motion="reduce",
    ) as context:  # fmt: skip
        context.add_cookies([{"name": "sessionid", "value": world["sessions"][picture.viewer], "url": base}])
        page = context.new_page()
        answer = page.goto(base + path, wait_until="networkidle")
        status = answer and answer.status
        assert status == 200, f"{path} answers {status}"
        page.evaluate("document.fonts.ready.then(() => true)")
        return page.screenshot(animations="disabled")


def save(png: bytes, file: Path) -> int:
    """Write a picture as WebP; return its bytes. Raises AssertionError when it weighs too much."""
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.open(io.BytesIO(png)).convert("RGB").save(file, "WEBP", quality=80, method=6)
    weight = file.stat().st_size
    assert weight <= MAX_BYTES, f"{file.name} has {weight:,} bytes, at most {MAX_BYTES:,} are allowed"
    return weight


def main() -> None:
    """Take the pictures that the command line names, or all."""
    arguments = argparse.ArgumentParser(prog="python -m tests.pictures", description="Take the pictures of the docs.")
    arguments.add_argument("names", nargs="*", help=", ".join(one.name for one in ALL))
    arguments.add_argument("--into", type=Path, default=PICTURES)
    asked = arguments.parse_args()
    if unknown := set(asked.names) - {one.name for one in ALL}:
        arguments.error(f"no such picture: {', '.join(sorted(unknown))}")
    if BROWSER is None:
        sys.exit(NO_BROWSER)
    wanted = [one for one in ALL if not asked.names or one.name in asked.names]
    with filled_hub() as (base, world), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        for one in wanted:
            for name, theme in one.files.items():
                png = take(browser, base, world, one, theme)
                print(f"{name}: {save(png, asked.into / name):,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
