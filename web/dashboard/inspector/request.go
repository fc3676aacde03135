package inspector

import (
	"encoding/hex"
	"fmt"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// requestView is one captured request.
type requestView struct {
	ui.Shell

	Texts    *words
	Head     ui.Head
	Verdicts []verdictView
	Facts    []ui.Fact
	Headers  []ui.HeaderLine
	Body     ui.BodyView
	Tree     *ui.Tree     // nil: it is no JSON
	Hex      *ui.BodyView // its bytes; nil: Body shows them, or there are none
}

// maxHex is how many bytes of a body are shown one by one.
const maxHex = 16 << 10

// verdictView is what one scheme's signature is worth, and why.
type verdictView struct {
	Scheme   string
	State    ui.Pill
	Why      string
	Received []string
	Expected []models.SignatureDigest
}

func (s *Section) showRequest(v *ui.Visit) (ui.Reply, error) {
	id, err := parts.ID(v, models.PrefixCaptured)
	if err != nil {
		return ui.Reply{}, err
	}
	captured, err := s.queries.CapturedRequest(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("read a captured request: %w", err)
	}
	bin, err := s.queries.Bin(v.Context(), v.Member.Project.ID, captured.BinID)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("read its bin: %w", err)
	}
	verdicts, err := s.bins.Verdicts(v.Context(), bin, captured)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("check the signature: %w", err)
	}
	texts := wordsIn(v.Locale.Language)
	body := ui.ShowPayload(captured.Body)
	if captured.Truncated {
		body = ui.ShowBytes(captured.Body, true)
	}
	view := requestView{
		Shell: v.Shell(texts.Request, ui.NavInspector), Texts: texts, Facts: requestFacts(v, captured), Headers: ui.ShowHeaders(captured.Headers),
		Head: ui.Head{Crumb: &ui.Link{Name: binName(texts, bin), Address: Path + "/bins/" + bin.ID}, Title: texts.Request, ID: captured.ID},
		Body: ui.BodyView{ID: "body", Name: texts.Body, Text: body.Text, Note: v.Locale.Size(captured.BodyBytes)},
	}
	if !captured.Truncated {
		view.Tree = ui.ShowTree(captured.Body)
	}
	if !body.Hex && len(captured.Body) > 0 {
		view.Hex = &ui.BodyView{ID: "hex", Name: texts.Hex, Text: hex.Dump(captured.Body[:min(len(captured.Body), maxHex)])}
		if len(captured.Body) > maxHex {
			view.Hex.Note = fmt.Sprintf(texts.HexPartF, v.Locale.Size(maxHex))
		}
	}
	if captured.Truncated {
		view.Body.Note += ". " + texts.Truncated
	}
	for _, verdict := range verdicts {
		view.Verdicts = append(view.Verdicts, showVerdict(texts, verdict))
	}
	return s.views.Page("request", view)
}

func showVerdict(texts *words, verdict models.SignatureVerdict) verdictView {
	kind := ui.PillFailed
	switch verdict.Status {
	case models.SignatureValid:
		kind = ui.PillDelivered
	case models.SignatureMissing, models.SignatureUnknowable:
		kind = ui.PillPending
	case models.SignatureWrongSecret, models.SignatureTooOld, models.SignatureInFuture, models.SignatureMalformed:
	}
	view := verdictView{
		Scheme: string(verdict.Scheme), State: ui.Pill{Kind: kind, Word: ui.Word(texts.Verdicts, verdict.Status), Note: ui.Visible(verdict.Header)},
		Why: texts.Why[verdict.Status], Expected: verdict.Expected,
	}
	for _, digest := range verdict.Received {
		view.Received = append(view.Received, ui.Visible(digest))
	}
	return view
}

func requestFacts(v *ui.Visit, c *models.CapturedRequest) []ui.Fact {
	texts := wordsIn(v.Locale.Language)
	address := c.Path
	if c.Query != "" {
		address += "?" + c.Query
	}
	facts := []ui.Fact{
		{Name: texts.Path, Cell: ui.Cell{Text: ui.Visible(c.Method + " " + address), Code: true}, Wide: true},
		{Name: texts.At, Cell: parts.Moment(v.Locale.Time(c.ReceivedAt))}, {Name: texts.Answer, Cell: ui.Cell{Text: answer(texts, c)}},
	}
	if c.DeliveryID != nil {
		facts = append(facts, ui.Fact{Name: texts.CopyOf, Cell: ui.IDCell("/deliveries/", *c.DeliveryID)})
	} else {
		facts = append(facts, ui.Fact{Name: texts.From, Cell: ui.Cell{Text: ui.Visible(c.RemoteAddr), Code: true}})
	}
	return facts
}
