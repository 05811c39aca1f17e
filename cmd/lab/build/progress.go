package build

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// A Display shows how far something is.
type Display interface {
	// Live shows a state that the next call replaces.
	Live(text string)
	// Say shows a line that stays.
	Say(text string)
}

// progress follows the builds of one start. It is safe for concurrent use: a
// ticker redraws while lines come in.
type progress struct {
	display Display
	now     func() time.Time
	stop    chan struct{}
	stopped sync.WaitGroup

	mu     sync.Mutex
	stages []*stage
	// pace is how this machine compares with the one that Usual was taken on.
	pace float64
}

// A stage is one program's build.
type stage struct {
	whole *progress
	job   job
	nth   int

	started, ended time.Time
	downloads      int
	compiledN      int
	current        string
}

func newProgress(d Display, now func() time.Time, jobs []job) *progress {
	p := &progress{display: d, now: now, stop: make(chan struct{}), pace: 1}
	for i, j := range jobs {
		p.stages = append(p.stages, &stage{whole: p, job: j, nth: i})
	}
	p.stopped.Go(p.tick)
	return p
}

func (p *progress) of(i int) *stage {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stages[i].started = p.now()
	return p.stages[i]
}

func (p *progress) skip(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stages[i].started = p.now()
	p.stages[i].ended = p.now()
}

func (p *progress) close() {
	close(p.stop)
	p.stopped.Wait()
}

func (p *progress) tick() {
	each := time.NewTicker(500 * time.Millisecond)
	defer each.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-each.C:
			if text := p.line(); text != "" {
				p.display.Live(text)
			}
		}
	}
}

// line describes the build that is under way.
func (p *progress) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.stages {
		if !s.started.IsZero() && s.ended.IsZero() {
			return fmt.Sprintf("building %s (%d of %d): %s, about %s left in all",
				s.job.Name, s.nth+1, len(p.stages), s.doing(), round(p.left()))
		}
	}
	return ""
}

func (s *stage) doing() string {
	switch {
	case s.job.count.packages == 0 && s.downloads > 0:
		return fmt.Sprintf("downloading modules, %d so far", s.downloads)
	case s.job.count.packages == 0:
		return "listing packages"
	case s.compiledN >= s.job.count.stale:
		return fmt.Sprintf("%d packages compiled, linking", s.job.count.packages)
	}
	done := s.job.count.packages - s.job.count.stale + s.compiledN
	text := fmt.Sprintf("%s %d of %d packages", bar(done, s.job.count.packages), done, s.job.count.packages)
	if s.current != "" { // go names a package when it begins with it, which may take a while
		text += " (" + s.current + ")"
	}
	return text
}

// left estimates the time to go: this build by its own rate once it has one,
// the others by what they usually take at this machine's pace.
func (p *progress) left() time.Duration {
	var sum time.Duration
	for _, s := range p.stages {
		switch {
		case !s.ended.IsZero():
		case s.started.IsZero():
			sum += time.Duration(float64(s.job.Usual) * p.pace)
		default:
			sum += s.left(p.now(), p.pace)
		}
	}
	return sum
}

// left of one build. A twentieth of the packages must be through before their
// rate is believed: the first ones are small.
func (s *stage) left(now time.Time, pace float64) time.Duration {
	usual := time.Duration(float64(s.job.Usual) * pace)
	spent := now.Sub(s.started)
	n := s.job.count
	if n.packages > 0 {
		usual = time.Duration(float64(usual) * float64(n.stale) / float64(n.packages))
	}
	if n.stale > 0 && s.compiledN > n.stale/20 {
		byRate := time.Duration(float64(spent) * float64(n.stale-s.compiledN) / float64(s.compiledN))
		// Linking comes after the last package and takes a tenth of the whole.
		return byRate + (spent+byRate)/10
	}
	return max(usual-spent, 5*time.Second)
}

func (s *stage) downloading(line string) {
	if !strings.HasPrefix(line, "go: downloading") {
		return
	}
	s.whole.mu.Lock()
	defer s.whole.mu.Unlock()
	s.downloads++
}

func (s *stage) begin(c count) {
	s.whole.mu.Lock()
	defer s.whole.mu.Unlock()
	s.job.count = c
	s.started = s.whole.now()
}

func (s *stage) compiled(line string) {
	if strings.ContainsAny(line, " \t") {
		return
	}
	s.whole.mu.Lock()
	defer s.whole.mu.Unlock()
	s.compiledN++
	s.current = line
}

func (s *stage) done() {
	s.whole.mu.Lock()
	s.ended = s.whole.now()
	took := s.ended.Sub(s.started)
	if n := s.job.count; n.stale > n.packages/2 && s.job.Usual > 0 {
		s.whole.pace = float64(took) / float64(s.job.Usual)
	}
	s.whole.mu.Unlock()
	if s.job.count.stale > 0 {
		s.whole.display.Say(fmt.Sprintf("built %s in %s", s.job.Name, round(took)))
	}
}

func bar(done, all int) string {
	const width = 20
	n := min(width, done*width/max(all, 1))
	return "[" + strings.Repeat("#", n) + strings.Repeat(".", width-n) + "]"
}

func round(d time.Duration) time.Duration {
	if d > 2*time.Minute {
		return d.Round(10 * time.Second)
	}
	return d.Round(time.Second)
}
