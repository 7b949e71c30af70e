package service

import (
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/spec"
)

// questionsVersion is the version of the form of a file of questions.
const questionsVersion = 1

// questionsFile is a file of questions. Its entries are those of [api.AskRequest].
type questionsFile struct {
	Version   int            `json:"version"`
	Dataset   string         `json:"dataset"`
	Questions []api.Question `json:"questions"`
}

// Questions is a file of questions that was read.
type Questions struct {
	// Request asks them.
	Request  *api.AskRequest
	document *spec.Document
}

// ReadQuestions reads a file of questions: YAML with version: 1, dataset and questions.
// Errors are of kind Usage, with the line and column of the fault.
func ReadQuestions(path string) (*Questions, error) {
	data, _, err := spec.ReadSide(path, "the questions", "does the file exist?")
	if err != nil {
		return nil, err
	}
	return ParseQuestions(path, data)
}

// ParseQuestions is [ReadQuestions] of the content of a file; name goes into errors.
func ParseQuestions(name string, data []byte) (*Questions, error) {
	var f questionsFile
	d, err := spec.ReadDocument(name, data, &f)
	if err != nil {
		return nil, err
	}
	q := &Questions{Request: &api.AskRequest{Dataset: f.Dataset, Questions: f.Questions}, document: d}
	switch {
	case f.Version != questionsVersion:
		return nil, noren.Usagef(d.At("version"), "expected version %d, got %d", questionsVersion, f.Version)
	case f.Dataset == "":
		return nil, noren.Usagef(d.At("dataset"), "expected the name of a data set, got none")
	}
	for i := range f.Questions {
		if err := f.Questions[i].Check(); err != nil {
			return nil, q.Located(inQuestion(err, i, len(f.Questions)))
		}
	}
	return q, nil
}

// Located says an error about a question with its place in the file.
func (q *Questions) Located(err error) error {
	if noren.KindOf(err) != noren.Usage {
		return err
	}
	return relocated(err, q.at)
}

// at is the place in the file of what an error is about: "question 2: margin.within", or
// without a number where there is one question.
func (q *Questions) at(where any) any {
	i := 0
	if place, ok := where.(noren.Place); ok && len(place) == 2 {
		if n, ok := place[0].(numbered); ok {
			i, where = int(n), place[1]
		}
	} else if n, ok := where.(numbered); ok {
		i, where = int(n), nil
	} else if len(q.Request.Questions) != 1 {
		return where
	}
	path := "questions." + strconv.Itoa(i)
	if field, ok := where.(string); ok && field != "" && !strings.ContainsAny(field, " /") {
		path += "." + strings.ReplaceAll(field, "-", "_")
	}
	return q.document.At(path)
}

// QuestionsFile is questions to a data set as the file that noren ask reads.
func QuestionsFile(dataset string, questions []api.Question) (string, error) {
	return spec.WriteDocument(questionsFile{Version: questionsVersion, Dataset: dataset, Questions: questions})
}

// QuotedFile is the questions of a quote as the file that noren ask reads.
func QuotedFile(q *api.AskQuote) (string, error) {
	questions := make([]api.Question, len(q.Questions))
	for i := range q.Questions {
		questions[i] = q.Questions[i].Question
	}
	return QuestionsFile(q.Dataset, questions)
}
