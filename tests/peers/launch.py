"""What start_trino and start_presto share: finding Java, running Maven, asking the engine, staying until it ends."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

START_SECONDS, STOP_SECONDS = 300, 30


def log(*words: object) -> None:
    """A line on standard error."""
    print(*words, file=sys.stderr, flush=True)


def find_java(low: int, high: int, given: str | None = None) -> str:
    """The java program of the newest JDK whose major version is in low..high.

    Looked at: the given one, $JAVA_HOME, java on PATH, and without a given one the JDKs lying beside each of these.
    """
    found = [(major, java) for java in _candidates(given) if low <= (major := _major(java)) <= high]
    if not found:
        raise SystemExit(f"no JDK {low}..{high} found; give --java PATH or set JAVA_HOME")
    major, java = max(found)
    log(f"java {major}: {java}")
    return str(java)


def _candidates(given: str | None) -> list[Path]:
    homes = [Path(os.environ["JAVA_HOME"]).resolve()] if "JAVA_HOME" in os.environ else []
    on_path = shutil.which("java")
    if on_path:
        homes.append(Path(on_path).resolve().parent.parent)
    if given:
        path = Path(given).resolve()
        homes.insert(0, path.parent.parent if path.is_file() else path)
    else:
        homes += [beside for home in list(homes) for beside in home.parent.iterdir()]
    return [home / "bin" / "java" for home in homes if (home / "bin" / "java").exists()]


def _major(java: Path) -> int:
    """The major version of a JDK: `1.8.0` is 8, `17.0.2` is 17; 0 when it does not say."""
    said = subprocess.run([str(java), "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else 0


def maven(arguments: Sequence[str], folder: Path, log_file: Path) -> None:
    """Run Maven in a folder; its output goes to the log file."""
    _run(["mvn", "-B", *arguments], folder, log_file)


def npm(arguments: Sequence[str], folder: Path, log_file: Path) -> None:
    """Run npm in a folder; its output goes to the log file."""
    _run(["npm", *arguments], folder, log_file)


def _run(command: Sequence[str], folder: Path, log_file: Path) -> None:
    started = time.monotonic()
    with log_file.open("ab") as output:
        done = subprocess.run(command, cwd=folder, stdout=output, stderr=output, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed, see {log_file}")
    log(f"{command[0]}: {time.monotonic() - started:.0f} s")


def query(port: int, sql: str, headers: Mapping[str, str], timeout_seconds: float = 60) -> list[Any]:
    """The rows of one statement. Raises RuntimeError with the engine's message."""
    address = f"http://127.0.0.1:{port}/v1/statement"
    request = urllib.request.Request(address, data=sql.encode(), headers=dict(headers), method="POST")
    rows: list[Any] = []
    until = time.monotonic() + timeout_seconds
    while time.monotonic() < until:
        with urllib.request.urlopen(request, timeout=timeout_seconds) as answer:
            page = json.load(answer)
        if page.get("error"):
            raise RuntimeError(page["error"].get("message"))
        rows += page.get("data") or []
        if not page.get("nextUri"):
            return rows
        user = {name: value for name, value in headers.items() if name.endswith("-User")}
        request = urllib.request.Request(page["nextUri"], headers=user)
    raise RuntimeError(f"no end of {sql!r} in {timeout_seconds:.0f} s")


def serve(command: Sequence[str], folder: Path, output: Path, port: int, headers: Mapping[str, str]) -> int:
    """Run an engine, print `ready PORT` once it answers, stop it on SIGTERM or SIGINT; its exit status."""
    with output.open("ab") as out:
        engine = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    stopping: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        stopping.append(number)
        engine.terminate()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    if _ready(engine, port, headers):
        print("ready", port, flush=True)
        engine.wait()
    elif engine.poll() is None:
        log(f"no answer in {START_SECONDS} s, see {output}")
        engine.terminate()
    status = _ended(engine)
    if stopping:
        return 0
    log(f"engine ended with {status}, see {output}")
    return status or 1


def _ready(engine: subprocess.Popen[bytes], port: int, headers: Mapping[str, str]) -> bool:
    """Whether the engine answers before it ends or the time is up."""
    until = time.monotonic() + START_SECONDS
    while engine.poll() is None and time.monotonic() < until:
        try:
            query(port, "SELECT 1", headers)
        except (OSError, RuntimeError, ValueError):
            time.sleep(0.5)
        else:
            return True
    return False


def _ended(engine: subprocess.Popen[bytes]) -> int:
    try:
        return engine.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        engine.kill()
        return engine.wait()
