"""An emulator of Google Cloud Storage in memory, with threads: alone it answers one request at a time.

Arrow keeps the answer of one request open while it sends the next. The emulator's storage knows no threads: without a
lock it loses an object, or answers 500, when two change it at once.
"""

import sys

VERSION = "2026.7.19"
_PROGRAM = """
import functools, inspect, sys, threading
from http import server
from gcp_storage_emulator.storage import Storage
lock = threading.RLock()
def locked(method):
    @functools.wraps(method)
    def run(*given, **named):
        with lock:
            return method(*given, **named)
    return run
for name, method in [*vars(Storage).items()]:
    if inspect.isfunction(method):
        setattr(Storage, name, locked(method))
server.ThreadingHTTPServer.request_queue_size = 128
server.HTTPServer = server.ThreadingHTTPServer
from gcp_storage_emulator.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def command(port: int, bucket: str) -> list[str]:
    """The command that serves an empty bucket."""
    flags = ("--host", "127.0.0.1", "--port", str(port), "--in-memory", "--default-bucket", bucket)
    return [sys.executable, "-c", _PROGRAM, "start", *flags]
