package cluster

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Write is one change that somebody made to an object, as the API server's
// audit log tells it.
type Write struct {
	// AuditID is the request's, the same however often it is told.
	AuditID string `json:"auditID"`
	// User is who acted: the one impersonated, if one was, and then By is who
	// impersonated.
	User   string   `json:"user"`
	By     string   `json:"by,omitempty"`
	Groups []string `json:"groups,omitempty"`
	// UserAgent and FieldManager are what the client says of itself.
	UserAgent    string `json:"userAgent,omitempty"`
	FieldManager string `json:"fieldManager,omitempty"`
	// Verb is create, update, patch, delete or deletecollection.
	Verb string `json:"verb"`
	// SourceIP is the address that reached the API server; the ones before it
	// could be made up.
	SourceIP string        `json:"sourceIP,omitempty"`
	Object   WrittenObject `json:"object"`
	// Body is the request's object or patch; absent for Secrets and
	// ConfigMaps, for what is too large, and where the audit policy leaves it
	// out. Values that look like credentials are masked.
	Body json.RawMessage `json:"body,omitempty"`
	// ResourceVersion is the object's after the write; "" if not told.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// At is when the request was done.
	At time.Time `json:"at"`
}

// WrittenObject is what was written to.
type WrittenObject struct {
	APIGroup    string `json:"apiGroup,omitempty"`
	APIVersion  string `json:"apiVersion,omitempty"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	// Name is empty for a deletecollection.
	Name string `json:"name,omitempty"`
	// UID is empty where the audit policy leaves the answer out.
	UID string `json:"uid,omitempty"`
}

// maxBody bounds what is kept of a request.
const maxBody = 64 << 10

// event is the part of audit.k8s.io/v1 Event that is read.
// https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/
type event struct {
	AuditID    string   `json:"auditID"`
	Stage      string   `json:"stage"`
	RequestURI string   `json:"requestURI"`
	Verb       string   `json:"verb"`
	User       user     `json:"user"`
	As         *user    `json:"impersonatedUser"`
	SourceIPs  []string `json:"sourceIPs"`
	UserAgent  string   `json:"userAgent"`
	Object     *struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		UID         string `json:"uid"`
		APIGroup    string `json:"apiGroup"`
		APIVersion  string `json:"apiVersion"`
	} `json:"objectRef"`
	Status struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Request  json.RawMessage `json:"requestObject"`
	Response json.RawMessage `json:"responseObject"`
	Received time.Time       `json:"requestReceivedTimestamp"`
	At       time.Time       `json:"stageTimestamp"`
}

type user struct {
	Username string   `json:"username"`
	Groups   []string `json:"groups"`
}

var (
	writes = []string{"create", "update", "patch", "delete", "deletecollection"}
	// chatter is what is written all the time and never part of a target.
	chatter = []string{"events", "leases", "tokenreviews", "subjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectreviews"}
)

// DecodeEvents reads an audit.k8s.io/v1 EventList and keeps the writes that
// took effect, each once.
func DecodeEvents(raw []byte) ([]Write, error) {
	var list struct {
		Kind       string  `json:"kind"`
		APIVersion string  `json:"apiVersion"`
		Items      []event `json:"items"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read an audit event list: %w", err)
	}
	if list.Kind != "EventList" || !strings.HasPrefix(list.APIVersion, "audit.k8s.io/") {
		return nil, fmt.Errorf("read an audit event list: kind %q of %q is none", list.Kind, list.APIVersion)
	}
	seen := map[string]bool{}
	var out []Write
	for _, e := range list.Items {
		if !e.wrote() || seen[e.AuditID] {
			continue
		}
		seen[e.AuditID] = true
		out = append(out, e.write())
	}
	return out, nil
}

// wrote tells whether the event is a write that took effect: complete, with
// success, and no dry run.
func (e event) wrote() bool {
	if e.AuditID == "" || e.Object == nil || e.Object.Resource == "" || e.Object.Subresource == "status" {
		return false
	}
	dry := e.query().Get("dryRun")
	return e.Stage == "ResponseComplete" && e.Status.Code >= 200 && e.Status.Code < 300 &&
		slices.Contains(writes, e.Verb) && !slices.Contains(chatter, e.Object.Resource) && dry == ""
}

func (e event) query() url.Values {
	_, query, _ := strings.Cut(e.RequestURI, "?")
	// What can't be parsed is left out; the rest is kept.
	values, _ := url.ParseQuery(query)
	return values
}

func (e event) write() Write {
	w := Write{
		AuditID: e.AuditID, User: e.User.Username, Groups: e.User.Groups,
		UserAgent: e.UserAgent, FieldManager: e.query().Get("fieldManager"), Verb: e.Verb, At: e.At.UTC(),
		Object: WrittenObject{
			APIGroup: e.Object.APIGroup, APIVersion: e.Object.APIVersion, Resource: e.Object.Resource,
			Subresource: e.Object.Subresource, Namespace: e.Object.Namespace, Name: e.Object.Name, UID: e.Object.UID,
		},
	}
	if e.As != nil && e.As.Username != "" {
		w.User, w.By, w.Groups = e.As.Username, e.User.Username, e.As.Groups
	}
	if n := len(e.SourceIPs); n > 0 {
		w.SourceIP = e.SourceIPs[n-1]
	}
	if w.At.IsZero() {
		w.At = e.Received.UTC()
	}
	w.named(e.Request)
	w.answered(e.Response)
	if !confidential(w.Object) {
		w.Body = scrub(e.Request)
	}
	return w
}

// named takes the name of what was created from the request: an objectRef has
// none there, because the address of the request has none.
func (w *Write) named(raw json.RawMessage) {
	var object struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if w.Verb == "create" && w.Object.Name == "" && w.Object.Subresource == "" && json.Unmarshal(raw, &object) == nil {
		w.Object.Name = object.Metadata.Name
	}
}

// answered takes what only the answer tells: the name that the server made
// up, the uid, the resource version.
func (w *Write) answered(raw json.RawMessage) {
	var answer struct {
		Metadata struct {
			Name            string `json:"name"`
			UID             string `json:"uid"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		// A delete answers with a Status that names what is gone.
		Details struct {
			UID string `json:"uid"`
		} `json:"details"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &answer) != nil {
		return
	}
	if w.Object.Name == "" {
		w.Object.Name = answer.Metadata.Name
	}
	for _, uid := range []string{answer.Metadata.UID, answer.Details.UID} {
		if w.Object.UID == "" {
			w.Object.UID = uid
		}
	}
	w.ResourceVersion = answer.Metadata.ResourceVersion
}

// confidential tells whether the request of a write must not be kept.
func confidential(o WrittenObject) bool {
	return o.APIGroup == "" && (o.Resource == "secrets" || o.Resource == "configmaps" || o.Resource == "serviceaccounts")
}
