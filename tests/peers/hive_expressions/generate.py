"""Has real Hives write conditions over partitions and say what they find with them.

    python -m tests.peers.hive_expressions.generate {2.3|3.1|4.0} > tests/testdata/hive-expressions/GENERATION.jsonl
    python -m tests.peers.hive_expressions.generate {2.3|3.1|4.0} --layouts < CLASSES

The conditions are those of conditions.txt, typed and serialised by the Hive of the generation; the partitions are found
by the class that its metastore calls. With --layouts it says how Kryo lays out the classes whose names it reads.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.peers.hive_engine import jars
from tests.peers.start_hive import JAVA

HERE = Path(__file__).resolve().parent
CONDITIONS = HERE / "conditions.txt"


def program(generation: str) -> list[str]:
    """The command that reads conditions and writes what a generation's Hive makes of them."""
    path = jars.expressions(generation)
    path = [jars.compiled(f"hive-expressions-{generation}", sorted(HERE.glob("*.java")), path), *path]
    if generation == "3.1":
        path = [jars.java_17(path), *path]
    flags = ["-Xmx512m", "-Duser.timezone=UTC", *jars.OPEN]
    return [JAVA, *flags, "-cp", os.pathsep.join(path), "PartitionExpressions"]


def main() -> None:
    """Write what a generation's Hive makes of the conditions."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("generation", choices=sorted(jars.RELEASES))
    parser.add_argument("--layouts", action="store_true")
    given = parser.parse_args()
    command = program(given.generation) + (["layouts"] if given.layouts else [])
    with CONDITIONS.open("rb") as conditions:
        source = sys.stdin.buffer if given.layouts else conditions
        subprocess.run(command, stdin=source, stderr=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
