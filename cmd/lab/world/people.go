package world

// A Person is one human under the names that each system knows.
type Person struct {
	Name       string // also the login on the Git host
	FullName   string
	Role       string
	Slack      string // user ID
	Kubernetes string
	Group      string // in Kubernetes
	Guest      bool   // in Slack; of no other system
}

// The people of the lab, by what they are to an incident.
const (
	OnCall   = "alice" // runs kubectl
	AppOwner = "bob"   // owns the application and approves
	Platform = "carol" // reviews on the Git host
	Guest    = "gwen"  // of another company, here to watch
)

// People are everyone in the lab.
func People() []Person {
	return []Person{
		{Name: OnCall, FullName: "Alice Arden", Role: "on-call engineer", Slack: "U0ALICE", Kubernetes: "alice@example.com", Group: "sre"},
		{Name: AppOwner, FullName: "Bob Brandt", Role: "application owner", Slack: "U0BOB", Kubernetes: "bob@example.com", Group: "payments"},
		{Name: Platform, FullName: "Carol Chen", Role: "platform engineer", Slack: "U0CAROL", Kubernetes: "carol@example.com", Group: "platform"},
		{Name: Guest, FullName: "Gwen Garcia", Role: "guest", Slack: "U0GWEN", Guest: true},
	}
}
