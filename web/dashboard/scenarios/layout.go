package scenarios

import "slices"

// The measures of a drawing, in its own units, which are pixels.
const (
	nodeWidth  = 232
	wayWidth   = 40 // of the room that a way needs beside steps
	endWidth   = 96
	endHeight  = 32
	gapAcross  = 28
	gapBetween = 52
	margin     = 12
)

// spot is a place in a layer: a step, or the room of a way that passes it.
type spot struct {
	step  int // -1: a way that passes
	layer int
	width float64
	x     float64 // of its middle
	from  []*spot // in the layer above
}

// route is an edge with the spots it goes through, both ends included.
type route struct {
	edge

	spots []*spot
}

// layout places the steps of a graph in layers from top to bottom: each below all
// that lead to it, each as near below them as the others let it.
func layout(count int, edges []edge) (steps []*spot, routes []route, layers [][]*spot) {
	can := reached(count, edges)
	steps = make([]*spot, count+1)
	for i := range steps {
		steps[i] = &spot{step: i, width: nodeWidth}
	}
	steps[count].width = endWidth
	for _, e := range edges {
		if can[e.from] {
			steps[e.to].layer = max(steps[e.to].layer, steps[e.from].layer+1)
		}
	}
	strand(steps, edges, can)
	for _, step := range steps {
		for len(layers) <= step.layer {
			layers = append(layers, nil)
		}
	}
	for _, e := range edges {
		routes = append(routes, pass(e, steps, layers))
	}
	for i, step := range steps {
		if i < count || can[count] {
			layers[step.layer] = append(layers[step.layer], step)
		}
	}
	for _, layer := range layers {
		place(layer)
	}
	return steps, routes, layers
}

// strand gives those that no run comes to a place below one another, from the
// layer of the step before them.
func strand(steps []*spot, edges []edge, can []bool) {
	for i := 1; i < len(steps)-1; i++ {
		if !can[i] {
			steps[i].layer = max(steps[i].layer, steps[i-1].layer)
		}
		for _, e := range edges {
			if e.from == i {
				steps[e.to].layer = max(steps[e.to].layer, steps[i].layer+1)
			}
		}
	}
}

// pass makes room for a way in each layer between its ends.
func pass(e edge, steps []*spot, layers [][]*spot) route {
	at := steps[e.from]
	r := route{edge: e, spots: []*spot{at}}
	for layer := at.layer + 1; layer < steps[e.to].layer; layer++ {
		room := &spot{step: -1, layer: layer, width: wayWidth, from: []*spot{at}}
		layers[layer] = append(layers[layer], room)
		r.spots = append(r.spots, room)
		at = room
	}
	steps[e.to].from = append(steps[e.to].from, at)
	r.spots = append(r.spots, steps[e.to])
	return r
}

// place puts a layer's spots beside one another, each below the middle of what
// leads to it as far as the others let it.
func place(layer []*spot) {
	wanted := make(map[*spot]float64, len(layer))
	for _, s := range layer {
		for _, above := range s.from {
			wanted[s] += above.x / float64(len(s.from))
		}
	}
	slices.SortStableFunc(layer, func(a, b *spot) int {
		switch {
		case wanted[a] < wanted[b]:
			return -1
		case wanted[a] > wanted[b]:
			return 1
		}
		return 0
	})
	shift := 0.0
	for i, s := range layer {
		s.x = wanted[s]
		if i > 0 {
			s.x = max(s.x, layer[i-1].x+(layer[i-1].width+s.width)/2+gapAcross)
		}
		shift += (wanted[s] - s.x) / float64(len(layer))
	}
	for _, s := range layer {
		s.x += shift
	}
}
