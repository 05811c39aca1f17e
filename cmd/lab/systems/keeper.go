// Package systems runs the real systems that the lab consists of, as processes
// of this machine: etcd, the Kubernetes control plane, a kubelet's stand-in,
// Argo CD, and the bot itself.
//
// It must never listen beyond loopback, and never leave a process behind, not
// even when the lab itself is killed.
//
// Why processes and not containers: everything can then be started, killed and
// watched with nothing but Go, and a scenario can end one of them in the middle
// of a request.
package systems

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Command says how to start one process.
type Command struct {
	Name string // of its log file, and what messages call it
	Path string
	Args []string
	Env  []string // beside what the lab itself has
	// Graceful gives it time to end by itself. The others are killed: their
	// data is thrown away with the run folder.
	Graceful bool
	// Minded says that whoever starts it looks after its end, which then does
	// not end the lab.
	Minded bool
}

// A Keeper starts processes, ends them all, and reports the first that ended
// without being asked to. It is safe for concurrent use.
type Keeper struct {
	logs string
	fail context.CancelCauseFunc

	mu    sync.Mutex
	procs []*Process
	ended bool
}

// NewKeeper keeps log files in the folder logs. The context it returns ends,
// with the reason as its cause, when a process dies.
func NewKeeper(ctx context.Context, logs string) (*Keeper, context.Context) {
	ctx, fail := context.WithCancelCause(ctx)
	return &Keeper{logs: logs, fail: fail}, ctx
}

// A Process is a running program, or one that has ended.
type Process struct {
	Command
	keeper *Keeper
	log    string
	pid    int
	done   chan struct{} // closed when it has ended and been waited for

	mu      sync.Mutex
	ending  bool // its end is wanted
	waitErr error
}

// Start starts a process in a process group of its own.
func (k *Keeper) Start(c Command) (*Process, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return nil, fmt.Errorf("start %s: the lab is ending", c.Name)
	}
	p := &Process{Command: c, keeper: k, log: filepath.Join(k.logs, c.Name+".log"), done: make(chan struct{})}
	if err := p.start(); err != nil {
		return nil, err
	}
	k.procs = append(k.procs, p)
	return p, nil
}

func (p *Process) start() error {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	defer log.Close()
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Env = append(os.Environ(), p.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = ownGroup()
	started := make(chan error)
	// The kernel sends the parent-death signal when the thread that started
	// the child ends, so that thread stays until the child is gone. The
	// keeper's Stop waits for this goroutine through done.
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.over(cmd.Wait())
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	p.pid = cmd.Process.Pid
	return nil
}

// over notes the end of the process.
func (p *Process) over(err error) {
	p.mu.Lock()
	p.waitErr = err
	wanted := p.ending
	p.mu.Unlock()
	if !wanted && !p.Minded {
		p.keeper.fail(fmt.Errorf("%s ended (%s); %s", p.Name, exit(err), p.LastWords()))
	}
	close(p.done)
}

func exit(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit says how the process ended, and whether that was asked for. It is of
// use once Done is closed.
func (p *Process) Exit() (how string, wanted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return exit(p.waitErr), p.ending
}

// PID is the process's number.
func (p *Process) PID() int { return p.pid }

// LastWords quotes the end of the process's log.
func (p *Process) LastWords() string {
	return fmt.Sprintf("the last lines of its log, %s:\n%s", p.log, lastLines(p.log, 12))
}

// Stop ends the process and everything it started, and waits until it is gone.
func (p *Process) Stop() {
	if !p.Graceful {
		p.Kill()
		return
	}
	p.signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
	}
	p.Kill()
}

// Kill ends the process at once, as kill -9 does, and waits until it is gone.
func (p *Process) Kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

func (p *Process) signal(s syscall.Signal) {
	p.mu.Lock()
	p.ending = true
	p.mu.Unlock()
	// The negative number addresses the group. A group that is gone already is
	// what was wanted.
	_ = syscall.Kill(-p.pid, s)
}

// Restart starts the process again after Stop or Kill, with the same command.
func (p *Process) Restart() (*Process, error) { return p.keeper.Start(p.Command) }

// Log is the path of the file that holds what the process wrote.
func (p *Process) Log() string { return p.log }

// Close ends every process, the last started first, and lets no other start.
func (k *Keeper) Close() {
	k.mu.Lock()
	k.ended = true
	procs := slices.Clone(k.procs)
	k.mu.Unlock()
	slices.Reverse(procs)
	// The graceful ones go first, while what they talk to is still there.
	for _, graceful := range []bool{true, false} {
		var all sync.WaitGroup
		for _, p := range procs {
			if p.Graceful == graceful {
				all.Go(p.Stop)
			}
		}
		all.Wait()
	}
}

func lastLines(path string, n int) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(bytes.TrimSpace(content)), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-n):], "\n  ")
}
