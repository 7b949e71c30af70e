"""Count, sum, mean, variance, histogram and median of 1,000,000 integers in memory with OpenDP,
epsilon = 0.1 (neighbours: add or remove one record; substitution where OpenDP needs the size).

    python queries_opendp.py

The numbers are 0..99 in random order. Each query is built once and called several times.
"""

import numpy as np
import opendp.prelude as dp

from timing import measure

dp.enable_features("contrib", "honest-but-curious")
N, EPSILON = 1_000_000, 0.1


def calibrated(make, unit):
    """The measurement of make(scale) that costs EPSILON for a distance of unit records."""
    return dp.binary_search_chain(make, d_in=unit, d_out=EPSILON, bounds=(1e-6, 1e9))


def main():
    data = np.random.default_rng(1).integers(0, 100, N).astype(np.int32)
    vector = dp.vector_domain(dp.atom_domain(T="i32"))
    open_ended = (vector, dp.symmetric_distance())
    count = calibrated(lambda s: open_ended >> dp.t.then_count() >> dp.m.then_laplace(s), 1)
    measure("OpenDP count", lambda: count(data))
    total = calibrated(lambda s: open_ended >> dp.t.then_clamp((0, 100)) >> dp.t.then_sum() >> dp.m.then_laplace(s), 1)
    measure("OpenDP sum", lambda: total(data))

    real = data.astype(np.float64)
    known = (dp.vector_domain(dp.atom_domain(T="f64", nan=False), size=N), dp.symmetric_distance())
    mean = calibrated(lambda s: known >> dp.t.then_clamp((0.0, 100.0)) >> dp.t.then_mean() >> dp.m.then_laplace(s), 2)
    measure("OpenDP mean (size known)", lambda: mean(real))
    variance = calibrated(lambda s: known >> dp.t.then_clamp((0.0, 100.0)) >> dp.t.then_variance() >> dp.m.then_laplace(s), 2)
    measure("OpenDP variance (size known)", lambda: variance(real))

    edges = list(range(10, 100, 10))
    bins = list(range(len(edges) + 1))
    histogram = calibrated(
        lambda s: open_ended
        >> dp.t.then_find_bin(edges=edges)
        >> dp.t.then_count_by_categories(categories=bins, MO="L1Distance<i32>", TOA="i32", null_category=False)
        >> dp.m.then_laplace(s),
        1,
    )
    measure("OpenDP histogram of 10 bins", lambda: histogram(data))

    median = calibrated(
        lambda s: open_ended
        >> dp.t.then_quantile_score_candidates(list(range(101)), alpha=0.5)
        >> dp.m.then_noisy_max(dp.max_divergence(), s, negate=True),
        1,
    )
    measure("OpenDP median of 101 candidates", lambda: median(data))


if __name__ == "__main__":
    main()
