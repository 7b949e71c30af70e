"""Linear support vector machines of scikit-learn on the UCI breast-cancer table (wdbc.csv), ten
times ten folds: accuracy, and processor milliseconds a fit.

    python svm.py wdbc.csv             prints the figures
    python svm.py wdbc.csv folds.json  writes the folds and the accuracies too

learn/testdata/folds.json was made by the second command: the test of package learn trains on
the same folds. A line of digits for each repeat tells the fold of each record.
"""

import csv
import json
import sys

import numpy as np
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from timing import processor


def main():
    rows = list(csv.reader(open(sys.argv[1])))[1:]
    x = StandardScaler().fit_transform(np.array([[float(v) for v in r[:-1]] for r in rows]))
    y = np.array([r[-1] == "malignant" for r in rows]).astype(int)
    folds = []
    for seed in range(10):
        of = np.zeros(len(y), int)
        for k, (_, test) in enumerate(KFold(10, shuffle=True, random_state=seed).split(x)):
            of[test] = k
        folds.append(of)
    figures = {"folds": ["".join(map(str, of)) for of in folds]}
    for name, make in (
        ("SVC", lambda: SVC(kernel="linear", C=1)),
        ("LinearSVC", lambda: LinearSVC(loss="hinge", C=1, max_iter=100_000)),
        ("LinearSVC, tolerance .1", lambda: LinearSVC(loss="hinge", C=1, tol=0.1, max_iter=100_000)),
    ):
        right, spent = [], 0.0
        for of in folds:
            for k in range(10):
                train, test = x[of != k], x[of == k]
                start = processor()
                model = make().fit(train, y[of != k])
                spent += processor() - start
                right.append((model.predict(test) == y[of == k]).mean())
        figures[name] = float(np.mean(right))
        print(f"{name:26} accuracy {figures[name]:.5f}, {1000 * spent / len(right):.2f} ms a fit")
    if len(sys.argv) > 2:
        json.dump(figures, open(sys.argv[2], "w"), indent=1)


if __name__ == "__main__":
    main()
