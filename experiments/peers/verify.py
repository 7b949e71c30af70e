"""Least class size of a CSV file by its quasi-identifiers, with polars or DuckDB.

    python verify.py polars release.csv age,sex,education,income,day
    python verify.py duckdb release.csv age,sex,education,income,day
"""

import sys
import time

from timing import processor


def with_polars(path, quasi):
    import polars as pl

    sizes = pl.scan_csv(path).group_by(quasi).len().select(pl.len().alias("classes"), pl.col("len").min().alias("least"))
    return sizes.collect().row(0)


def with_duckdb(path, quasi):
    import duckdb

    columns = ", ".join('"' + q.replace('"', '""') + '"' for q in quasi)
    return duckdb.execute(
        f"select count(*), min(n) from (select count(*) n from read_csv(?) group by {columns})", [path]
    ).fetchone()


def main():
    tool, path, quasi = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
    start, clock = processor(), time.perf_counter()
    classes, least = {"polars": with_polars, "duckdb": with_duckdb}[tool](path, quasi)
    print(f"{tool}: {classes} classes, least {least}; processor {processor() - start:.2f} s, clock {time.perf_counter() - clock:.2f} s")


if __name__ == "__main__":
    main()
