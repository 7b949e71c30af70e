"""Make the Parquet files of this folder, or compare two files.

    python make.py                     write arrow.parquet, pandas.parquet and polars.parquet
    python make.py compare OLD NEW     compare columns that both have: types and values

Made with pyarrow 26.0.1, pandas 3.1.1 and polars 2.1.0. All values are made up.
"""

import datetime as dt
import decimal
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq


def arrow():
    dec = decimal.Decimal
    days = [dt.date(2024, 2, 28 + i % 2) for i in range(4)]
    return pa.table({
        "age": pa.array([34, 35, 36, 37], pa.int64()),
        "dictionary": pa.array(["a", "b", "a", None]).dictionary_encode(),
        "large": pa.array(["x", "y", "z", None], pa.large_string()),
        "view": pa.array(["x", "y", "z", None], pa.string_view()),
        "tokyo": pa.array([1, -2, 3, None], pa.timestamp("us", "Asia/Tokyo")),
        "second": pa.array([1, 2, 3, 4], pa.timestamp("s")),
        "duration": pa.array([1, -2, 3, None], pa.duration("us")),
        "decimal": pa.array([dec("1.25"), dec("-0.05"), None, dec("99999999.99")], pa.decimal128(10, 2)),
        "decimal256": pa.array([dec("1.250"), None, dec("-3.000"), dec("4.125")], pa.decimal256(50, 3)),
        "unsigned": pa.array([1, 2**63 + 5, 2**64 - 1, None], pa.uint64()),
        "float": pa.array([float("nan"), float("inf"), float("-inf"), None], pa.float64()),
        "half": pa.array([1.0, 0.5, 2.0, None], pa.float16()),
        "null": pa.nulls(4),
        "list": pa.array([[1], [2, None], [], None], pa.list_(pa.int64())),
        "deep": pa.array([[["a"], []], None, [None, ["b", None]], [[]]], pa.list_(pa.list_(pa.string()))),
        "struct": pa.array([{"a": 1, "b": "x"}, {"a": None, "b": 'q"y'}, None, {"a": 4, "b": None}]),
        "map": pa.array([[("k", 1)], [], [("l", 2), ("m", None)], None], pa.map_(pa.string(), pa.int64())),
        "bytes": pa.array([b"a", b"\xff", b"", None]),
        "day": pa.array(days, pa.date32()),
        "time": pa.array([dt.time(1, 2, 3)] * 4, pa.time32("ms")),
        "boolean": pa.array([True, False, None, True]),
    })


def pandas():
    frame = pd.DataFrame({
        "age": [34, 35, 36, 37, 50],
        "ward": pd.Categorical(list("aabba")),
        "seen": pd.date_range("2024-01-01", periods=5, tz="Asia/Tokyo"),
    })
    return frame.loc[[2, 0, 3, 1]]


def polars():
    return pl.DataFrame({
        "age": [34, 35, 36, 37],
        "categorical": pl.Series(list("abab"), dtype=pl.Categorical),
        "enum": pl.Series(list("abab"), dtype=pl.Enum(["b", "a", "unused"])),
        "duration": [dt.timedelta(days=1, microseconds=i) for i in range(4)],
        "null": [None] * 4,
        "list": [[1], [], [2, 3], None],
        "tokyo": pl.Series([dt.datetime(2024, 1, 1)] * 4).dt.replace_time_zone("Asia/Tokyo"),
    })


def compare(old, new):
    old, new = pq.read_table(old), pq.read_table(new)
    for name in new.column_names:
        a, b = old[name], new[name]
        if a.type != b.type:
            print(f"{name}: {a.type} became {b.type}")
        elif repr(a.to_pylist()) != repr(b.to_pylist()):
            print(f"{name}: values differ")
        else:
            print(f"{name}: {a.type}, same")


if __name__ == "__main__":
    if sys.argv[1:2] == ["compare"]:
        compare(*sys.argv[2:4])
    else:
        pq.write_table(arrow(), "arrow.parquet")
        pandas().to_parquet("pandas.parquet")
        polars().write_parquet("polars.parquet")
