"""yardstick.py ORIGINAL.csv QI[,QI...] RELEASE.csv... [--hier DIR PREFIX] [--queries N] [--seed N]

The same measures for every release, whoever made it. Rows of a release are in the order of the original.
A released cell is read as a distribution over the raw values: a value (all on it), [lo-hi] or lo-hi
(even over the raw domain between), [lo-hi] mean m (over the raw domain between, with weights that rise
or fall geometrically so that the mean is m: of all distributions the one of largest entropy),
{a, b} (even over the set), {a 0.60, b 0.40} (these shares), a label of a hierarchy (even over its
leaves), * (even over the domain). Classes are rows equal in all released quasi-identifiers.

grouping (what the classes are worth, however published)
  classes, min, avg, DM      number, smallest, mean size, discernibility sum |class|^2 + suppressed * n
  loss                       SSE/SST: numbers min-max scaled, words one-hot / sqrt 2
  codes                      SSE/SST: words as alphabetical codes, all min-max scaled (the papers' measure)
  box                        mean normalised width of the tightest box of each class (NCP of an ideal publication)
published (what the reader of the file gets)
  ncp                        mean normalised width of released cells; * is 1; aggregated values have none (0)
  hit                        probability of the true word under the released cell, mean over words
  rmse                       numbers: root mean square of (released expectation - true) / range
  supp                       records with every quasi-identifier *
queries: N random counts (2-4 columns, ranges 10-50 % wide, words half of the domain, true answer >= 0.1 %):
  q mean, q med              relative error
  q num, q word              its mean over the questions with a number column, and without
"""
import argparse, re, sys
import numpy as np, pandas as pd

INT = re.compile(r"^\[?(-?[\d.]+)\s*(?:-|, )\s*(-?[\d.]+)[\])]?$")


MEAN = re.compile(r"^(\[.*\]) mean (-?[\d.]+)$")
SHARE = re.compile(r" [01]\.\d{2,}$")


def tilted(d, mean):
    """weights over d, geometric in the value, with this mean"""
    lo, hi = d[0], d[-1]
    if len(d) < 2 or not lo < mean < hi: return np.ones(len(d))
    z = (d - lo) / (hi - lo)
    a, b = -700.0, 700.0
    for _ in range(100):
        m = (a + b) / 2
        w = np.exp(m * z - max(m, 0))
        if w @ z / w.sum() < (mean - lo) / (hi - lo): a = m
        else: b = m
    return w


def items(body, known):
    """the values of {...}, which may hold commas themselves; None where they are not all known"""
    parts, out, at = body.split(", "), [], 0
    while at < len(parts):
        for end in range(at + 1, len(parts) + 1):
            item = ", ".join(parts[at:end])
            if known(item):
                out.append(item); at = end
                break
        else: return None
    return out


class Space:
    def __init__(self, df, qi, hier=None, prefix=""):
        self.df, self.qi, self.dom, self.num, self.leaf = df, qi, {}, {}, {}
        for c in qi:
            self.num[c] = pd.api.types.is_numeric_dtype(df[c])
            self.dom[c] = np.sort(df[c].unique()) if self.num[c] else np.array(sorted(df[c].astype(str).unique()), dtype=object)
            self.leaf[c] = {}
            if hier:
                h = pd.read_csv(f"{hier}/{prefix}{c}.csv", sep=";", header=None, dtype=str, keep_default_na=False)
                for l in range(1, h.shape[1]):
                    for lab, g in h.groupby(l):
                        self.leaf[c][lab] = set(g[0])

    def cell(self, c, s):
        """weights over dom[c] and, for a number off the domain, its value"""
        d, s = self.dom[c], str(s).strip()
        if s == "*" or s.lower() == "nan" or s == "":
            w = np.ones(len(d))
        elif self.num[c]:
            try:
                v = float(s)
                w = np.zeros(len(d)); w[np.abs(d - v).argmin()] = 1
                return w, v, 0.0
            except ValueError:
                mean = MEAN.match(s)
                if mean: s = mean[1]
                m = INT.match(s)
                if m:
                    lo, hi = float(m[1]), float(m[2])
                    if s.endswith("["): hi -= 1e-9
                    w = ((d >= lo) & (d <= hi)).astype(float)
                    if mean: w[w > 0] = tilted(d[w > 0].astype(float), float(mean[2]))
                elif s in self.leaf[c]:
                    w = np.isin(d.astype(str), list(self.leaf[c][s])).astype(float)
                else:
                    raise ValueError(f"{c}: {s!r}")
        else:
            i = np.flatnonzero(d == s)
            if len(i): w = np.zeros(len(d)); w[i[0]] = 1
            else:
                known = set(d)
                vals = items(s[1:-1], lambda x: x in known) if s.startswith("{") else self.leaf[c].get(s)
                share = None
                if vals is None and s.startswith("{"):
                    share = items(s[1:-1], lambda x: SHARE.search(x) and x.rsplit(" ", 1)[0] in known)
                if share is not None:
                    w = np.zeros(len(d))
                    for x in share:
                        v, p = x.rsplit(" ", 1)
                        w[np.flatnonzero(d == v)[0]] += float(p)
                elif vals is None: raise ValueError(f"{c}: {s!r}")
                else: w = np.isin(d.astype(str), list(vals)).astype(float)
        if w.sum() == 0: raise ValueError(f"{c}: {s!r} holds no raw value")
        w = w / w.sum()
        if self.num[c]:
            on = d[w > 0]
            return w, float(w @ d), float(on[-1] - on[0]) / float(d[-1] - d[0])
        return w, None, (np.count_nonzero(w) - 1) / max(1, len(d) - 1)

    def read(self, rel):
        R = {}
        for c in self.qi:
            code, u = pd.factorize(rel[c].astype(str))
            cells = [self.cell(c, x) for x in u]
            R[c] = (code, np.array([x[0] for x in cells]), np.array([x[1] if self.num[c] else np.nan for x in cells], float),
                    np.array([x[2] for x in cells]))
        return R

    def features(self, R, n):
        X = []
        for c in self.qi:
            code, W, E, _ = R[c]
            X.append(((E[code] - self.dom[c][0]) / (self.dom[c][-1] - self.dom[c][0]))[:, None] if self.num[c] else W[code])
        return np.hstack(X)


def groups(rel, qi):
    return rel.groupby(list(qi), sort=False, dropna=False).ngroup().to_numpy()


def sse(x, g):
    n = np.bincount(g).astype(float)
    s = np.zeros(len(n)); np.add.at(s, g, x)
    return float((x * x).sum() - (s * s / n).sum())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("original"); p.add_argument("qi"); p.add_argument("release", nargs="+")
    p.add_argument("--hier", nargs=2); p.add_argument("--queries", type=int, default=1000); p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    df, qi = pd.read_csv(a.original, keep_default_na=False), a.qi.split(",")
    S = Space(df, qi, *(a.hier or ()))
    n = len(df)
    onehot, codes = [], []
    for c in qi:
        if S.num[c]:
            z = (df[c] - df[c].min()) / (df[c].max() - df[c].min())
            onehot.append(z.to_numpy(float)); codes.append(onehot[-1])
        else:
            k = np.searchsorted(S.dom[c].astype(str), df[c].astype(str).to_numpy())
            codes.append(k / max(1, len(S.dom[c]) - 1))
            onehot += [(k == j) / np.sqrt(2) for j in range(len(S.dom[c]))]
    zero = np.zeros(n, int)
    sst, sstc = sum(sse(x, zero) for x in onehot), sum(sse(x, zero) for x in codes)
    # queries
    rng = np.random.default_rng(a.seed)
    Q = []
    raw = S.read(df)
    while len(Q) < a.queries:
        q, t = {}, np.ones(n)
        for c in rng.choice(qi, rng.integers(2, 5), replace=False):
            d = S.dom[c]
            if S.num[c]:
                w = rng.uniform(.1, .5) * (d[-1] - d[0]); lo = rng.uniform(d[0], d[-1] - w)
                m = (d >= lo) & (d <= lo + w); q[c] = (m, lo, lo + w)
            else:
                m = np.zeros(len(d), bool); m[rng.choice(len(d), max(1, len(d) // 2), replace=False)] = True; q[c] = (m, 0, 0)
            t = t * m[raw[c][1].argmax(1)][raw[c][0]]
        if t.sum() >= .001 * n: Q.append((q, t.sum()))
    print(f"{'release':34s} {'classes':>7s} {'min':>4s} {'avg':>6s} {'DM':>10s} {'loss':>6s} {'codes':>6s} {'box':>6s} {'ncp':>6s} {'hit':>6s} {'rmse':>6s} {'supp':>6s} {'q mean':>7s} {'q med':>7s} {'q num':>7s} {'q word':>7s}")
    for f in a.release:
        rel = pd.read_csv(f, dtype=str, keep_default_na=False)
        assert len(rel) == n, f
        g = groups(rel, qi); size = np.bincount(g)
        star = (rel[qi] == "*").all(axis=1).to_numpy(); supp = int(star.sum())
        kept = np.unique(g[~star])
        dm = int((size[kept].astype(float) ** 2).sum() + supp * n)
        loss, lossc = sum(sse(x, g) for x in onehot) / sst, sum(sse(x, g) for x in codes) / sstc
        box = []
        for c in qi:
            if S.num[c]:
                z = df[c].groupby(g); box.append((((z.max() - z.min()) / (S.dom[c][-1] - S.dom[c][0])).to_numpy() * size).sum() / n)
            else:
                box.append(((df[c].groupby(g).nunique().to_numpy() - 1) / max(1, len(S.dom[c]) - 1) * size).sum() / n)
        R = S.read(rel)
        ncp = np.mean([R[c][3][R[c][0]].mean() for c in qi])
        hit, rm = [], []
        for c in qi:
            code, W, E, _ = R[c]
            if S.num[c]: rm.append((((E[code] - df[c]) / (S.dom[c][-1] - S.dom[c][0])) ** 2).mean())
            else: hit.append(W[code, np.searchsorted(S.dom[c].astype(str), df[c].astype(str).to_numpy())].mean())
        err = []
        for q, true in Q:
            pr = np.ones(n)
            for c, (m, lo, hi) in q.items():
                code, W, E, width = R[c]
                v = W @ m.astype(float)
                if S.num[c]: v = np.where(width > 0, v, (E >= lo) & (E <= hi))
                pr *= v[code]
            err.append(abs(pr.sum() - true) / true)
        with_num = np.array([any(S.num[c] for c in q) for q, _ in Q]); err = np.array(err)
        print(f"{f.split('/')[-1]:34s} {len(kept):7d} {size[kept].min():4d} {size[kept].mean():6.2f} {dm:10d} {loss:6.4f} {lossc:6.4f} {np.mean(box):6.4f} {ncp:6.4f} {np.mean(hit) if hit else np.nan:6.4f} {np.sqrt(np.mean(rm)) if rm else np.nan:6.4f} {supp:6d} {np.mean(err):7.4f} {np.median(err):7.4f} {err[with_num].mean() if with_num.any() else np.nan:7.4f} {err[~with_num].mean() if (~with_num).any() else np.nan:7.4f}", flush=True)


if __name__ == "__main__":
    main()
