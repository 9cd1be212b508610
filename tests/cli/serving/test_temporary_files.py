"""A server where no folder for temporary files can be written, as in a container whose file system is read-only."""

import subprocess
import sys
from pathlib import Path

_PARENT = """
import sys, tempfile
tempfile._candidate_tempdir_list = lambda: ["/nowhere"]
from hmstats.cli.serving.parent import main
sys.exit(main())
"""


def test_a_server_without_temporary_files_says_what_to_set(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", _PARENT], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert run.stderr.startswith("hmstats: temporary files cannot be written, set TMPDIR: ")
    assert len(run.stderr.splitlines()) == 1
