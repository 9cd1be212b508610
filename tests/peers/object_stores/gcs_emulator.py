"""An emulator of Google Cloud Storage in memory, with threads: alone it answers one request at a time.

Arrow keeps the answer of one request open while it sends the next.
"""

import sys

VERSION = "2026.7.19"
_PROGRAM = """
import sys
from http import server
server.HTTPServer = server.ThreadingHTTPServer
from gcp_storage_emulator.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def command(port: int, bucket: str) -> list[str]:
    """The command that serves an empty bucket."""
    flags = ("--host", "127.0.0.1", "--port", str(port), "--in-memory", "--default-bucket", bucket)
    return [sys.executable, "-c", _PROGRAM, "start", *flags]
