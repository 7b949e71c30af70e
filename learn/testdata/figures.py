"""Makes sklearn.json: figures of scikit-learn that the tests of package learn hold
this package against. Run with scikit-learn 1.9.1 and numpy 2.4.6:

    python figures.py > sklearn.json
    python figures.py wdbc.csv > wdbc.json      (the UCI breast-cancer table)
"""
import csv
import json
import sys

import numpy as np
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier


def svm(X, y, C, B=1.0):
    m = LinearSVC(loss="hinge", dual=True, C=C, tol=1e-10, max_iter=10**7, intercept_scaling=B, random_state=0)
    m.fit(X, y)
    return {"C": C, "B": B, "weights": m.coef_.tolist(), "intercepts": m.intercept_.tolist()}


def cv(make, X, y, repeats):
    means = [
        100 * cross_val_score(make(r), X, y, cv=KFold(10, shuffle=True, random_state=r)).mean()
        for r in range(repeats)
    ]
    return {"repeats": repeats, "mean": float(np.mean(means)), "sd": float(np.std(means, ddof=1))}


def forest(**kw):
    return lambda r: RandomForestClassifier(random_state=r, **kw)


def synthetic():
    rng = np.random.default_rng(20240501)
    n, d = 160, 6
    X = np.round(rng.normal(size=(n, d)) * [1, 2, 0.5, 3, 1, 1] + [0, 1, -2, 5, 0, 0], 6)
    score = X[:, 0] + 0.4 * (X[:, 1] - 1) * (X[:, 4] > 0) - 0.3 * (X[:, 3] - 5)
    y2 = (score + 0.8 * rng.normal(size=n) > 0).astype(int)
    y3 = np.digitize(score + 0.5 * rng.normal(size=n), [-0.8, 0.8])
    s = StandardScaler().fit(X)
    Z = s.transform(X)
    p = PCA(3).fit(Z)
    trees = []
    for y in (y2, y3):
        for depth, leaf in ((2, 1), (3, 1), (4, 8), (None, 12)):
            # Where two questions are equally good the answer is a matter of luck:
            # only trees on which ten seeds agree are kept.
            grid = np.round(rng.normal(size=(60, d)) * [1, 2, 0.5, 3, 1, 1] + [0, 1, -2, 5, 0, 0], 6)
            answers = [DecisionTreeClassifier(max_depth=depth, min_samples_leaf=leaf, random_state=r).fit(X, y).predict_proba(grid) for r in range(10)]
            if all(np.array_equal(answers[0], a) for a in answers):
                trees.append({"classes": int(y.max() + 1), "depth": depth or 0, "leaf": leaf, "grid": grid.tolist(), "shares": answers[0].tolist()})
    return {
        "X": X.tolist(), "y2": y2.tolist(), "y3": y3.tolist(),
        "mean": s.mean_.tolist(), "scale": s.scale_.tolist(),
        "pca": {"components": p.components_.tolist(), "variance": p.explained_variance_.tolist(), "share": p.explained_variance_ratio_.tolist()},
        "svm2": [svm(Z, y2, 1), svm(Z, y2, 0.01), svm(Z, y2, 10, 5.0)],
        "svm3": [svm(Z, y3, 1)],
        "trees": trees,
        "forest": {
            "binary depth 5": cv(forest(n_estimators=20, max_depth=5), X, y2, 60),
            "binary": cv(forest(n_estimators=20), X, y2, 60),
        },
    }


def wdbc(path):
    rows = list(csv.reader(open(path)))[1:]
    X = StandardScaler().fit_transform(np.array([[float(v) for v in r[:-1]] for r in rows]))
    y = np.array([r[-1] == "malignant" for r in rows]).astype(int)
    return {
        "svm": [svm(X, y, 1), svm(X, y, 0.01)],
        "cv": {
            "SVC(linear, C=1)": cv(lambda r: SVC(kernel="linear", C=1), X, y, 10),
            "forest(20, depth 5)": cv(forest(n_estimators=20, max_depth=5), X, y, 30),
            "forest(100)": cv(forest(n_estimators=100), X, y, 10),
        },
        "pca5": PCA(5).fit(X).explained_variance_.tolist(),
    }


json.dump(wdbc(sys.argv[1]) if len(sys.argv) > 1 else synthetic(), sys.stdout, separators=(",", ":"))
print()
