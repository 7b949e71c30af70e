"""Writes the table that verify.py and `noren verify` read: classes of 5 or more records, 5 columns.

    python verify_data.py 10000000 release.csv
"""

import sys

import numpy as np


def main():
    rows, path = int(sys.argv[1]), sys.argv[2]
    rng = np.random.default_rng(1)
    group = rng.permutation(rows) // 5 * 2654435761 % 2**32
    education = np.array(["primary", "secondary", "college", "university", "doctorate"])
    with open(path, "w", encoding="ascii") as f:
        f.write("age,sex,education,income,day\n")
        for i in range(0, rows, 100_000):
            g = group[i : i + 100_000]
            columns = (g % 90, np.where(g // 90 % 2 == 0, "f", "m"), education[g // 180 % 5], g // 900 % 5000, g // 4_500_000 % 365 + 20_000)
            f.writelines("%d,%s,%s,%d,%d\n" % row for row in zip(*(c.tolist() for c in columns)))


if __name__ == "__main__":
    main()
