"""The same queries of the same numbers with diffprivlib, epsilon = 0.1.

    python queries_diffprivlib.py
"""

import numpy as np
from diffprivlib import tools

from timing import measure


def main():
    data = np.random.default_rng(1).integers(0, 100, 1_000_000)
    bounds, epsilon = (0, 100), 0.1
    measure("diffprivlib count", lambda: tools.count_nonzero(data >= 40, epsilon=epsilon))
    measure("diffprivlib sum", lambda: tools.sum(data, epsilon=epsilon, bounds=bounds))
    measure("diffprivlib mean", lambda: tools.mean(data, epsilon=epsilon, bounds=bounds))
    measure("diffprivlib variance", lambda: tools.var(data, epsilon=epsilon, bounds=bounds))
    measure("diffprivlib histogram of 10 bins", lambda: tools.histogram(data, epsilon=epsilon, bins=10, range=bounds))
    measure("diffprivlib median", lambda: tools.median(data, epsilon=epsilon, bounds=bounds))


if __name__ == "__main__":
    main()
