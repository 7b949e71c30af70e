"""uLSIF in numpy, written from the formulas of docs/density-ratio.md alone: what
the Go code is timed against, in one run (BenchmarkAgainstNumpy of the folder above).

    python3 ulsif.py loocv      81 settings of (sigma, lambda), n = N = 2000, b = 100
    python3 ulsif.py fit        n = 1000000, N = 10000, d = 10, b = 100, 16 lambdas

Prints the seconds that the work took, without starting Python or making the data.
"""

import sys
import time

import numpy as np


def kernel(x, centres, sigma):
    square = (x * x).sum(1)[:, None] - 2 * x @ centres.T + (centres * centres).sum(1)[None, :]
    return np.exp(np.maximum(square, 0) / (-2 * sigma * sigma))


def loocv(x, e, centres, sigmas, lambdas):
    best = None
    n, big = len(x), len(e)
    for sigma in sigmas:
        X, Y = kernel(x, centres, sigma).T, kernel(e, centres, sigma).T
        H, h = Y @ Y.T / big, X.mean(1)
        m = min(n, big)
        X, Y = X[:, :m], Y[:, :m]
        for lam in lambdas:
            B = H + lam * (big - 1) / big * np.eye(len(h))
            V = np.linalg.solve(B, Y)
            den = big - (Y * V).sum(0)
            B0 = np.linalg.solve(B, h)[:, None] + V * ((h @ V) / den)
            B1 = np.linalg.solve(B, X) + V * ((X * V).sum(0) / den)
            B2 = np.maximum(0, (big - 1) / (big * (n - 1)) * (n * B0 - B1))
            score = (((Y * B2).sum(0)) ** 2 / 2 - (X * B2).sum(0)).mean()
            if best is None or score < best[0]:
                best = (score, sigma, lam)
    return best


def fit(x, e, centres, sigma, lambdas):
    h = sum(kernel(x[i : i + 20000], centres, sigma).sum(0) for i in range(0, len(x), 20000)) / len(x)
    Y = kernel(e, centres, sigma)
    H, big, b = Y.T @ Y / len(e), len(e), len(h)
    best = None
    for lam in lambdas:
        B = H + lam * (big - 1) / big * np.eye(b)
        solved = np.linalg.solve(B, np.column_stack([h, Y.T]))
        Bh, V = solved[:, 0], solved[:, 1:]
        quad, cross = (Y.T * V).sum(0), h @ V
        left = (big - 1) / big * (Y @ Bh + quad * cross / (big - quad))
        score = (left**2).mean() / 2 - (big - 1) / big * (h @ Bh + (cross**2 / (big - quad)).mean())
        if best is None or score < best[0]:
            best = (score, lam)
    alpha = np.linalg.solve(H + best[1] * np.eye(b), h)
    return np.maximum(0, Y @ alpha)


def main():
    rng = np.random.default_rng(1)
    if sys.argv[1:] == ["loocv"]:
        x, e = rng.normal(0.5, 0.7, (2000, 2)), rng.normal(0, 1, (2000, 2))
        c = rng.normal(0, 1, (100, 2))
        start = time.perf_counter()
        loocv(x, e, c, [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3], [1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3, 10])
    elif sys.argv[1:] == ["fit"]:
        x, e = rng.normal(0.3, 0.8, (1_000_000, 10)), rng.normal(0, 1, (10_000, 10))
        start = time.perf_counter()
        fit(x, e, e[:100], 2.0, np.logspace(-4, 1, 16))
    else:
        sys.exit("ulsif.py loocv, or ulsif.py fit")
    print(time.perf_counter() - start)


if __name__ == "__main__":
    main()
