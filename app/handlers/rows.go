package handlers

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/app/models"
)

const (
	// A chunk of rows is what is in memory at a time, here and in the worker.
	chunkRows  = 1000
	chunkBytes = 256 << 10
	ndjsonType = "application/x-ndjson"
)

var errChunksRefused = errors.New("no more chunks are wanted")

// chunksOf hands on, in chunks, the rows that read finds in a body: at least one
// and at most MaxBulkRows. A nil row was too large. The memory of a chunk is used
// again for the next.
func chunksOf(body io.Reader, read rowReader) iter.Seq2[[][]byte, error] {
	return func(yield func([][]byte, error) bool) {
		c := &chunker{yield: func(rows [][]byte) bool { return yield(rows, nil) }}
		err := read(body, c.add)
		if err == nil {
			err = c.close()
		}
		if err != nil && !errors.Is(err, errChunksRefused) {
			yield(nil, err)
		}
	}
}

// rowReader calls add with each row of a body, whose bytes are only lent.
type rowReader func(body io.Reader, add func(row []byte) error) error

// chunker gathers rows.
type chunker struct {
	yield  func([][]byte) bool
	count  int    // of all rows so far
	memory []byte // of the chunk's rows, one after the other
	rows   []span
	chunk  [][]byte
}

// span is where a row lies in memory; to is -1 for one that was too large.
type span struct{ from, to int }

func (c *chunker) add(row []byte) error {
	if c.count == models.MaxBulkRows {
		return models.Invalid(models.FieldError{Code: fieldTooMany, Detail: fmt.Sprintf("At most %d rows are allowed.", models.MaxBulkRows)})
	}
	if len(c.rows) == chunkRows || (len(c.rows) > 0 && len(c.memory)+len(row) > chunkBytes) {
		if err := c.flush(); err != nil {
			return err
		}
	}
	place := span{len(c.memory), -1}
	if len(row) <= models.MaxRowBytes {
		c.memory = append(c.memory, row...)
		place.to = len(c.memory)
	}
	c.rows = append(c.rows, place)
	c.count++
	return nil
}

func (c *chunker) flush() error {
	c.chunk = c.chunk[:0]
	for _, place := range c.rows {
		var row []byte
		if place.to >= 0 {
			row = c.memory[place.from:place.to]
		}
		c.chunk = append(c.chunk, row)
	}
	c.memory, c.rows = c.memory[:0], c.rows[:0]
	if !c.yield(c.chunk) {
		return errChunksRefused
	}
	return nil
}

func (c *chunker) close() error {
	if c.count == 0 {
		return models.Invalid(models.FieldError{Code: fieldTooShort, Detail: "At least one row is needed."})
	}
	return c.flush()
}

// readArray hands on the elements of a JSON array. One that is no JSON makes the
// whole array none: nobody can tell where the next element begins.
func readArray(body io.Reader, add func([]byte) error) error {
	decoder := jsontext.NewDecoder(body)
	if kind := decoder.PeekKind(); kind != '[' && kind != 0 {
		return models.Invalid(models.FieldError{Code: fieldType, Detail: "The body must be a JSON array, a contact each; NDJSON is " + ndjsonType + "."})
	}
	if _, err := decoder.ReadToken(); err != nil {
		return noArray("", err)
	}
	for i := 0; decoder.PeekKind() != ']'; i++ {
		row, err := decoder.ReadValue()
		if err != nil {
			return noArray("/"+strconv.Itoa(i), err)
		}
		if err := add(row); err != nil {
			return err
		}
	}
	if _, err := decoder.ReadToken(); err != nil {
		return noArray("", err)
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return models.Malformed("", errors.New("there is something behind the array"))
	}
	return nil
}

// noArray tells what a caller sent from what could not be read again.
func noArray(pointer string, err error) error {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return models.Malformed(pointer, err)
	}
	return unread(err)
}

func unread(err error) error { return models.Internal(fmt.Errorf("read a body again: %w", err)) }

// readLines hands on the lines of NDJSON, whatever they hold: a line that is no
// JSON is that row's error. Empty lines are no rows.
func readLines(body io.Reader, add func([]byte) error) error {
	lines := bufio.NewReaderSize(body, 64<<10)
	var line []byte
	for {
		part, err := lines.ReadSlice('\n')
		if len(line) <= models.MaxRowBytes { // of a longer one no more is worth keeping
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return unread(err)
		}
		if row := bytes.TrimSpace(line); len(row) > 0 {
			if failed := add(row); failed != nil {
				return failed
			}
		}
		if err != nil {
			return nil //nolint:nilerr // the end
		}
		line = line[:0]
	}
}
