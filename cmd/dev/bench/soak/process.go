package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Setting is what the bot's process is started with, as JSON in its
// environment under SettingName.
type Setting struct {
	API     string `json:"api"`
	State   string `json:"state"`
	People  int    `json:"people"`
	Targets int    `json:"targets"`
	// Profile is where the process writes what it spends its time on, for
	// go tool pprof; empty writes nothing.
	Profile string `json:"profile,omitempty"`
}

// SettingName is the variable that holds a Setting.
const SettingName = "RECONCILEBOT_SOAK"

// status is what the bot's process says of itself, a line of JSON at a time.
type status struct {
	Ready     bool `json:"ready"`
	Unhandled int  `json:"unhandled"`
	Notices   int  `json:"notices"`
	Redraws   int  `json:"redraws"`
	// Moving counts reconciliations that wait for nobody.
	Moving   int   `json:"moving"`
	Panics   int64 `json:"panics"`
	Missed   int64 `json:"missed"`
	Refused  int64 `json:"refused"`
	Repeated int64 `json:"repeated"`
	Limited  int64 `json:"limited"`
	Opens    int64 `json:"opens"`
}

func (s status) quiet() bool { return s.Ready && s.Unhandled+s.Notices+s.Redraws+s.Moving == 0 }

// process is the bot's process. It is safe for concurrent use.
type process struct {
	command []string
	setting Setting
	log     io.Writer

	mu    sync.Mutex // guards what follows
	cmd   *exec.Cmd
	stdin io.WriteCloser
	said  status
	since time.Time // when it said so
	// past sums the counts of the processes that are gone.
	past status
	read sync.WaitGroup
}

// start starts the process; it ends when ctx does.
func (p *process) start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	raw, err := json.Marshal(p.setting)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, p.command[0], p.command[1:]...)
	cmd.Env = append(os.Environ(), SettingName+"="+string(raw))
	cmd.Stderr = p.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	// The process stops in order when its input ends.
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the bot: %w", err)
	}
	p.cmd, p.said = cmd, status{}
	p.read.Go(func() { p.listen(out) })
	return nil
}

func (p *process) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var s status
		if json.Unmarshal(lines.Bytes(), &s) == nil {
			p.mu.Lock()
			p.said, p.since = s, time.Now()
			p.mu.Unlock()
		}
	}
}

// kill ends the process as kill -9 does.
func (p *process) kill() error {
	p.mu.Lock()
	cmd := p.cmd
	p.mu.Unlock()
	if err := cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill the bot: %w", err)
	}
	p.gone(cmd)
	return nil
}

// stop ends the process in order, and tells how that went.
func (p *process) stop() error {
	p.mu.Lock()
	cmd, in := p.cmd, p.stdin
	p.mu.Unlock()
	if err := in.Close(); err != nil {
		return fmt.Errorf("stop the bot: %w", err)
	}
	if err := p.gone(cmd); err != nil {
		return fmt.Errorf("the bot did not stop in order: %w", err)
	}
	return nil
}

func (p *process) gone(cmd *exec.Cmd) error {
	p.read.Wait() // before Wait, which closes the pipe
	err := cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.past.Panics += p.said.Panics
	p.past.Missed += p.said.Missed
	p.past.Refused += p.said.Refused
	p.past.Repeated += p.said.Repeated
	p.past.Limited += p.said.Limited
	p.past.Opens += p.said.Opens
	p.said = status{}
	return err
}

// now is what the process said last, and how long ago.
func (p *process) now() (s status, age time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said, time.Since(p.since)
}

// sums are the counts of all processes so far.
func (p *process) sums() status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.past
}

// memory is what of a process is in memory, in bytes.
type memory struct {
	// Anon is its own; File is what it shares with the page cache, most of all
	// the state file, which bbolt maps: the kernel takes that back at will.
	Anon, File int64
}

func (m memory) total() int64 { return m.Anon + m.File }

// errNoMemory means that this system does not say what a process takes.
var errNoMemory = errors.New("this system has no /proc")

// memory reads what the kernel says of the process,
// https://man7.org/linux/man-pages/man5/proc_pid_status.5.html.
func (p *process) memory() (m memory, err error) {
	p.mu.Lock()
	pid := p.cmd.Process.Pid
	p.mu.Unlock()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return m, errNoMemory
	}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(line, ":")
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "RssAnon":
			m.Anon = kib << 10
		case "RssFile", "RssShmem":
			m.File += kib << 10
		}
	}
	return m, nil
}
