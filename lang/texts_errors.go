package lang

var errorTexts, hintTexts, causeTexts, noteTexts, resultTexts, reportTexts []Entry
