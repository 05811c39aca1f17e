package bot

import (
	"context"
	"sync"
	"time"
)

// farewellTime is how long a connection may outlive its announced end.
const farewellTime = 30 * time.Second

// ending is how a connection came to its end.
type ending struct {
	reason string
	err    error
}

// connection is a socket from its first frame to its last.
type connection struct {
	links  *links
	socket *socket
	// end gets the first sign of the end.
	end chan<- ending

	greeted  bool // Slack said hello
	told     bool
	farewell *time.Timer
}

// serve reads the connection to its end. When ctx ends, what is under way is
// acknowledged before the connection is closed.
func (c *connection) serve(ctx context.Context) {
	beating, stop := context.WithCancel(ctx)
	var beat sync.WaitGroup
	beat.Go(func() { c.socket.beat(beating) })
	unhook := context.AfterFunc(ctx, func() {
		c.links.intake.flush()
		c.socket.close()
	})
	defer func() {
		unhook()
		stop()
		if c.farewell != nil {
			c.farewell.Stop()
		}
		_ = c.socket.conn.Close() // nothing more to read
		beat.Wait()
	}()
	err := c.socket.fresh()
	for err == nil {
		var f frame
		if f, err = c.socket.next(); err == nil {
			c.take(f)
		}
	}
	if c.greeted {
		c.links.health.down("the connection to Slack broke")
	}
	c.tell(ending{err: err})
}

// take takes one frame.
func (c *connection) take(f frame) {
	switch f.Type {
	case "hello":
		if !c.greeted {
			c.greeted = true
			c.links.health.up()
		}
		c.links.hello(f)
	case "disconnect":
		c.links.log.Info("Slack announces the end of a connection", "reason", f.Reason)
		c.tell(ending{reason: f.Reason})
		if c.farewell == nil {
			c.farewell = time.AfterFunc(farewellTime, c.socket.close)
		}
	default:
		c.links.intake.take(c.socket, f)
	}
}

// tell reports the end, once.
func (c *connection) tell(e ending) {
	if !c.told {
		c.told = true
		c.end <- e
	}
}
