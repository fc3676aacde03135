package scenarios

import (
	"fmt"
	"math"
	"strings"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/scenarios"
	"github.com/botix-pro/platform/web/ui"
)

// How much fits into a step of the drawing, in characters.
const (
	titleRunes = 26
	briefRunes = 28
	iconRoom   = 19 // what the state's icon takes, in pixels
)

// flowView is a drawing: template "flow".
type flowView struct {
	Name          string
	Width, Height int
	Nodes         []nodeView
	Ways          []wayView
}

// nodeView is a step in a drawing, or the end.
type nodeView struct {
	Address string // empty for the end
	Label   string // all of it, for screen readers
	Class   string
	Shape   string // a path; the type's own
	X       int    // of the middle
	TitleY  int
	Title   string
	BriefY  int
	Brief   string // may be empty
	StateX  int    // where it begins
	StateY  int
	State   string // may be empty
	Icon    string // the state's; may be empty
	IconX   int
	IconY   int
}

// wayView is an edge in a drawing.
type wayView struct {
	Line, Head     string // paths
	Class          string
	Label          string // may be empty
	LabelX, LabelY int
}

// progress is where a run stands in a drawing; nil draws the definition alone.
type progress struct {
	states map[string]models.RunStepStatus
	next   []int // see path
	over   bool  // it came to the end
}

// drawing draws a definition, and a run's way through it.
type drawing struct {
	v          *ui.Visit
	words      *words
	definition *scenarios.Definition
	run        *progress
	left       float64
	height     int // of a step
}

// draw makes the picture of a definition.
func draw(v *ui.Visit, d *scenarios.Definition, run *progress) flowView {
	w := wordsIn(v)
	p := drawing{v: v, words: w, definition: d, run: run, height: 58}
	if run != nil {
		p.height = 76
	}
	edges := edgesOf(w, d)
	steps, routes, layers := layout(len(d.Steps), edges)
	right := math.Inf(-1)
	p.left = math.Inf(1)
	for _, layer := range layers {
		for _, s := range layer {
			p.left, right = min(p.left, s.x-s.width/2), max(right, s.x+s.width/2)
		}
	}
	view := flowView{
		Name: w.Drawing, Width: int(right-p.left) + 2*margin, Height: len(layers)*(p.height+gapBetween) - gapBetween + 2*margin,
	}
	for _, r := range routes {
		view.Ways = append(view.Ways, p.way(r))
	}
	can := reached(len(d.Steps), edges)
	for i, s := range steps[:len(d.Steps)] {
		view.Nodes = append(view.Nodes, p.node(i, s, can[i]))
	}
	if can[len(d.Steps)] {
		view.Nodes = append(view.Nodes, p.end(steps[len(d.Steps)]))
	}
	return view
}

func (p *drawing) x(x float64) int { return int(math.Round(x-p.left)) + margin }

func (p *drawing) top(s *spot) int { return margin + s.layer*(p.height+gapBetween) }

// bottom is where ways leave a spot.
func (p *drawing) bottom(s *spot) int { return p.top(s) + p.height }

func (p *drawing) node(i int, s *spot, reachable bool) nodeView {
	step := p.definition.Steps[i]
	x, y := p.x(s.x), p.top(s)
	kind := ui.Word(p.words.Types, step.Type)
	node := nodeView{
		Address: "#step-" + step.ID, Class: "flow-node", Shape: shape(step.Type, x, y, p.height), X: x,
		TitleY: y + 24, Title: ui.Shorten(step.ID, titleRunes), BriefY: y + 43, Brief: ui.Shorten(ui.Visible(brief(p.v, step)), briefRunes),
	}
	// What is seen comes first, so that it can be called by what is seen.
	seen := node.Title + " " + node.Brief
	if !reachable {
		node.Class += " flow-unreached"
	}
	if p.run != nil {
		status := p.run.states[step.ID]
		word := ui.Word(p.words.StepStates, status)
		node.Class += " flow-" + stepPills[status]
		if status == models.StepSkipped || status == models.StepPending {
			node.Class += " flow-untouched"
		}
		node.StateY, node.State, node.Icon = y+62, word, stepPills[status]
		// The icon and the word are in the middle together; a character takes 7 or less.
		node.IconX, node.IconY = x-(iconRoom+7*len([]rune(word)))/2, y+51
		node.StateX = node.IconX + iconRoom
		seen += " " + word
	}
	node.Label = seen + ", " + fmt.Sprintf(p.words.StepF, i+1, kind)
	return node
}

func (p *drawing) end(s *spot) nodeView {
	x, y := p.x(s.x), p.top(s)
	class := "flow-node flow-end"
	if p.run != nil && p.run.over {
		class += " flow-delivered"
	}
	return nodeView{Label: p.words.End, Class: class, Shape: rounded(x-endWidth/2, y, endWidth, endHeight, endHeight/2), X: x, TitleY: y + 21, Title: p.words.End}
}

// shape is the outline of a step: each type has its own, so that none is told by
// colour.
func shape(kind string, middle, y, h int) string {
	const w, slant = nodeWidth, 14
	x := middle - w/2
	switch kind {
	case scenarios.TypeWait:
		return rounded(x, y, w, h, h/2)
	case scenarios.TypeCondition:
		return fmt.Sprintf("M%d %dh%dl%d %dl%d %dh%dl%d %dz", x+slant, y, w-2*slant, slant, h/2, -slant, h-h/2, -(w - 2*slant), -slant, -(h - h/2))
	case scenarios.TypeEmitEvent:
		return fmt.Sprintf("M%d %dh%dl%d %dh%dz", x+slant, y, w-slant, -slant, h, -(w - slant))
	case scenarios.TypeHTTPRequest:
		return fmt.Sprintf("M%d %dh%dv%dh%dzm6 0v%dm%d 0v%d", x, y, w, h, -w, h, w-12, -h)
	case scenarios.TypeUpdateContact:
		return fmt.Sprintf("M%d %dh%dl%d %dv%dh%dz", x, y, w-slant, slant, slant, h-slant, -w)
	default:
		return rounded(x, y, w, h, 6)
	}
}

func rounded(x, y, w, h, r int) string {
	return fmt.Sprintf("M%d %dh%da%d %d 0 0 1 %d %dv%da%d %d 0 0 1 %d %dh%da%d %d 0 0 1 %d %dv%da%d %d 0 0 1 %d %dz",
		x+r, y, w-2*r, r, r, r, r, h-2*r, r, r, -r, r, -(w - 2*r), r, r, -r, -r, -(h - 2*r), r, r, r, -r)
}

// way draws an edge: down through the room that was made for it.
func (p *drawing) way(r route) wayView {
	var line strings.Builder
	for i := 1; i < len(r.spots); i++ {
		above, below := r.spots[i-1], r.spots[i]
		x1, y1, x2, y2 := p.x(above.x), p.bottom(above), p.x(below.x), p.top(below)
		if i == 1 {
			fmt.Fprintf(&line, "M%d %d", x1, y1)
		}
		middle := (y1 + y2) / 2
		fmt.Fprintf(&line, "C%d %d %d %d %d %d", x1, middle, x2, middle, x2, y2)
		if below.step < 0 {
			fmt.Fprintf(&line, "V%d", p.bottom(below))
		}
	}
	first, last := r.spots[1], r.spots[len(r.spots)-1]
	x, y := p.x(last.x), p.top(last)
	view := wayView{Line: line.String(), Head: fmt.Sprintf("M%d %dl-4 -7h8z", x, y), Class: "flow-way", Label: r.label}
	view.LabelX = (p.x(r.spots[0].x) + p.x(first.x)) / 2
	view.LabelY = p.bottom(r.spots[0]) + gapBetween/2 + 4
	if p.run != nil {
		view.Class += p.taken(r.edge)
	}
	return view
}

// taken is the style of a way that the run took, or will not take any more.
func (p *drawing) taken(e edge) string {
	switch {
	case p.run.next[e.from] == e.to:
		return " flow-taken"
	default:
		return " flow-left"
	}
}
