"""The progress of a feed, in a file: the number of the last change that it has read, and the tables to send again."""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from hmstats.errors import SettingsError
from hmstats.private_files import replaced_when_whole
from hmstats.process_user import home_folder


@dataclass(frozen=True, slots=True)
class Cursor:
    """The progress of a feed. `event` is None before the first run. `owed` are tables that could not be sent."""

    event: int | None = None
    owed: tuple[str, ...] = ()


def default_cursor_path(catalog: str, url: str, metastore: str) -> Path:
    """The file of a feed, one for each catalog, address and metastore, where a user's programs keep their state."""
    state = Path(os.environ.get("XDG_STATE_HOME") or home_folder() / ".local" / "state")
    digest = hashlib.sha256(f"{url}\n{metastore}".encode()).hexdigest()[:12]
    return state / "hmstats" / f"feed-{catalog}-{digest}.json"


def read_cursor(path: Path) -> Cursor:
    """The cursor in a file; that of a first run if there is no file. Raises SettingsError for another file."""
    try:
        found = json.loads(path.read_text())
        return Cursor(int(found["event"]), tuple(map(str, found["owed"])))
    except FileNotFoundError:
        return Cursor()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(f"{path} is no cursor of a feed, or cannot be read: {error}") from error


def write_cursor(path: Path, cursor: Cursor) -> None:
    """Replace the file at once, so that a crash leaves the old cursor or the new one. Raises SettingsError."""
    text = json.dumps({"event": cursor.event, "owed": list(cursor.owed)})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced_when_whole(path) as part:
            part.write_text(text)
    except OSError as error:
        raise SettingsError(f"the cursor {path} cannot be written: {error.strerror or error}") from error
