package slacksim

import "time"

// limiter keeps token buckets by method, and by channel for posting.
type limiter map[string]*bucket

type bucket struct {
	level   float64
	at      time.Time
	refused time.Time // until when the app was told to wait
	told    time.Time // when
}

// take wants one token from a bucket of that size and refill per second. It
// returns how long to wait when there is none.
func (l limiter) take(key string, now time.Time, size, perSecond float64) (time.Duration, *bucket) {
	b := l[key]
	if b == nil {
		b = &bucket{level: size, at: now}
		l[key] = b
	}
	b.level = min(size, b.level+now.Sub(b.at).Seconds()*perSecond)
	b.at = now
	if b.level < 1 {
		return time.Duration((1 - b.level) / perSecond * float64(time.Second)), b
	}
	b.level--
	return 0, b
}

// limit decides whether the call is one too many, and for how long.
func (s *Sim) limit(c *call) time.Duration {
	if c.name == "apps.connections.open" {
		s.watchOpens()
	}
	if s.opts.Limits == LimitsOff || c.method.open {
		return 0
	}
	if c.method.perMin > 0 {
		return s.take(c.name, c.name, float64(c.method.perMin), float64(c.method.perMin)/60)
	}
	if c.name != "chat.postMessage" {
		return 0
	}
	burst := 3.0
	if s.opts.Limits == LimitsStrict {
		burst = 1
		if wait := s.take(c.name, "posts in the workspace", 300, 5); wait > 0 {
			return wait
		}
	}
	return s.take(c.name, "posts in "+c.args["channel"], burst, 1)
}

// onItsWay is how long ago a refusal is that the app can't have known of when
// it made its next call.
const onItsWay = 20 * time.Millisecond

func (s *Sim) take(method, key string, size, perSecond float64) time.Duration {
	now := s.clock.Now()
	wait, b := s.limits.take(key, now, size, perSecond)
	if wait == 0 {
		return 0
	}
	s.stats.RateLimited++
	if s.stats.Refused == nil {
		s.stats.Refused = map[string]int{}
	}
	s.stats.Refused[method]++
	if method == "chat.postMessage" {
		s.find(RulePostRate, "%s: more than one message per second", key)
	}
	if now.Before(b.refused) && now.Sub(b.told) > onItsWay {
		s.find(RuleRetryAfter, "%s was called again %s before the Retry-After it got", method, b.refused.Sub(now).Round(time.Second))
	}
	b.refused, b.told = now.Add(wait), now
	return wait
}

// watchOpens notes an app that opens sockets in a hot loop.
func (s *Sim) watchOpens() {
	if wait, _ := s.limits.take("opens", s.clock.Now(), 10, 10.0/60); wait > 0 {
		s.find(RuleOpenRate, "apps.connections.open was called more than 10 times in a minute")
	}
}
