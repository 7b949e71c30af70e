// Package learn measures how much use is left in a table: it trains the two
// classifiers that published evaluations of private data use, a linear support
// vector machine and a random forest, and tells how often they are right on
// records they have not seen.
//
//	scaler, err := learn.FitScaler(x)
//	z := scaler.Apply(x)
//	folds, err := learn.KFold(z.Rows, 10, seed)
//	rates, err := learn.CrossValidate(ctx, learn.SVM{C: 1}, z, y, learn.CV{Folds: folds})
//
// A [Matrix] holds n records x d features, and y one class for each record,
// numbered from 0. Everything is a function of its input and its seed: the
// number of workers never changes a result.
//
// The promise it keeps: it computes what its words say, and what scikit-learn
// computes for the same words, where that is determined (the tests hold the
// figures). It promises nothing about privacy: a model tells about its training
// data, and a scaler, components or a choice of features that were fitted on raw
// data have seen raw data.
//
// Sources: Hsieh, Chang, Lin, Keerthi and Sundararajan, "A Dual Coordinate
// Descent Method for Large-scale Linear SVM" (ICML 2008); Breiman, Friedman,
// Olshen and Stone, "Classification and Regression Trees" (1984); Breiman,
// "Random Forests" (2001).
package learn
