"""Azurite from npm: Microsoft's emulator of Azure's Blob service, in memory.

It checks no version of the API, since Arrow's is newer than any that it knows."""

from pathlib import Path

from tests.peers import cache, launch

VERSION = "3.35.0"
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The emulator's account, which its documentation names."""


def command(port: int) -> list[str]:
    """The command that serves an empty store."""
    flags = ("--skipApiVersionCheck", "--inMemoryPersistence", "--disableTelemetry", "--silent")
    return [str(_program()), "--blobHost", "127.0.0.1", "--blobPort", str(port), *flags]


def _program() -> Path:
    """The program, fetched on first use."""
    folder = cache.CACHE / f"azurite-{VERSION}"
    with cache.filling(folder) as empty:
        if empty:
            launch.npm(["install", "--no-audit", "--no-fund", f"azurite@{VERSION}"], folder, folder / "npm.log")
    return folder / "node_modules" / ".bin" / "azurite-blob"
