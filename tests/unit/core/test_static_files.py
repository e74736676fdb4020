"""Static files are sent compressed, and kept for ever under the name with their hash."""

import asyncio
from pathlib import Path
from typing import Any

import zstandard
from servestatic import ServeStaticASGI

from memoryhub.static_files import SERVED, HubCompressor


def test_a_browser_gets_the_smallest_file_that_it_reads(tmp_path: Path) -> None:
    content = b"body { color: red; }\n" * 500
    path = tmp_path / "page.0123456789ab.css"
    path.write_bytes(content)
    assert sorted(Path(name).suffix for name in HubCompressor(quiet=True).compress(path)) == [".gz", ".zstd"]
    server = ServeStaticASGI(None, root=str(tmp_path), prefix="static/")
    for accepted, encoding in (("gzip, deflate, br, zstd", "zstd"), ("gzip", "gzip"), ("", "identity")):
        sent: list[Any] = []

        async def send(message: Any, sent: list[Any] = sent) -> None:
            sent.append(message)

        headers = [(b"accept-encoding", accepted.encode())]
        scope = {
            "type": "http",
            "method": "GET",
            "path": f"/static/{path.name}",
            "query_string": b"",
            "headers": headers,
        }
        asyncio.run(server(scope, None, send))  # type: ignore[arg-type]
        answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        assert answered.get("content-encoding", "identity") == encoding
        assert answered["cache-control"].endswith("immutable")
        body = b"".join(message.get("body", b"") for message in sent[1:])
        assert (zstandard.decompress(body) if encoding == "zstd" else content) == content


def test_only_what_pages_name_is_compressed() -> None:
    assert SERVED.search("unfold/css/styles.f822fefaeccc.css")
    assert not SERVED.search("unfold/css/styles.css")
    assert not SERVED.search("swagger-ui.f822fefaeccc.js.map")
