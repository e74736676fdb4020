"""Static files as they are collected: under a name with their hash, and compressed."""

import re
from collections.abc import Iterator
from typing import Any

import zstandard
from servestatic.compress import Compressor
from servestatic.storage import CompressedManifestStaticFilesStorage

# Higher ones take several times as long at the first start, and save 3 %.
ZSTD_LEVEL = 12
# Pages name files by these; source maps are for developers of the libraries.
SERVED = re.compile(r"\.[0-9a-f]{12}\.(?!.*map$)")


class HubCompressor(Compressor):
    """Compresses with zstd as well, for which servestatic needs Python 3.14: browsers since 2024 prefer it to gzip."""

    def __init__(self, *, use_zstd: bool = True, use_brotli: bool = False, **options: Any) -> None:
        super().__init__(use_zstd=False, use_brotli=False, **options)
        self.use_zstd = use_zstd

    @staticmethod
    def compress_zstd(data: bytes, level: int | None = None, zstd_dict: object | None = None) -> bytes:  # noqa: ARG004
        """Return compressed data."""
        return zstandard.ZstdCompressor(level=level or ZSTD_LEVEL).compress(data)


class HubStaticStorage(CompressedManifestStaticFilesStorage):
    """Names with hashes, which browsers may keep for ever, and beside each file the smaller ones."""

    def create_compressor(self, **options: Any) -> Compressor:
        """Return what compresses a file."""
        return HubCompressor(**options)

    def compress_files(self, paths: set[str]) -> Iterator[tuple[str, str]]:
        """Compress the files that pages name."""
        yield from super().compress_files({path for path in paths if SERVED.search(path)})
