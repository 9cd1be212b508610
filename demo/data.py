"""TPC-H data as Parquet files, made by tpchgen-cli and kept for the next run."""

import shutil
import subprocess
import sys
from pathlib import Path

TABLES = ("customer", "orders", "lineitem")


def make_data(folder: Path, scale: str) -> Path:
    """The folder with a Parquet file for each table at this scale factor; what is there already is used."""
    target = folder / f"tpch-{scale}"
    if target.is_dir():
        return target
    unfinished = folder / f"tpch-{scale}.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    program = Path(sys.executable).with_name("tpchgen-cli")
    arguments = ["parquet", "--scale-factor", scale, "--tables", ",".join(TABLES), "--output-dir", str(unfinished)]
    subprocess.run([str(program), *arguments], check=True)
    return unfinished.rename(target)
