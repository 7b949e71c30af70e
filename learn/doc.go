// Package learn trains a linear support vector machine or a random forest and measures
// its accuracy by cross-validation. Published evaluations of anonymised data use these
// two classifiers.
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
// Results agree with scikit-learn where its result is determined (the tests hold the
// figures). There is no privacy guarantee: a model, a scaler, principal components or a
// choice of features that were fitted on private data are private.
//
// Sources: Hsieh, Chang, Lin, Keerthi and Sundararajan, "A Dual Coordinate
// Descent Method for Large-scale Linear SVM" (ICML 2008); Breiman, Friedman,
// Olshen and Stone, "Classification and Regression Trees" (1984); Breiman,
// "Random Forests" (2001).
package learn
