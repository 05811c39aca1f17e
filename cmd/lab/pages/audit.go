package pages

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"reconcilebot/runbook/cluster"
)

// maxEvent is the largest audit event that is read: what the API server takes
// in one request, and room for what it says about it.
const maxEvent = 8 << 20

// event shows one write of the audit log, as the bot reads it: masked.
func (s *site) event(w http.ResponseWriter, req *http.Request) {
	write, found, err := find(s.auditLog, req.PathValue("id"))
	switch {
	case err != nil:
		refuse(w, http.StatusInternalServerError, "The audit log can't be read: "+err.Error())
	case !found:
		refuse(w, http.StatusNotFound, "The audit log has no write with this id.")
	default:
		var body bytes.Buffer
		_ = json.Indent(&body, write.Body, "", "  ") // empty where nothing was kept
		show(w, http.StatusOK, "event", view{Title: "Audit event", Data: struct {
			cluster.Write
			Text string
		}{write, body.String()}})
	}
}

// find looks for a write in a log of one event a line.
// https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/#log-backend
func find(log, id string) (w cluster.Write, found bool, err error) {
	f, err := os.Open(log)
	if err != nil {
		return w, false, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		if !bytes.Contains(lines.Bytes(), []byte(id)) {
			continue
		}
		writes, err := cluster.DecodeEvents(fmt.Appendf(nil, `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[%s]}`, lines.Bytes()))
		if err == nil && len(writes) == 1 && writes[0].AuditID == id {
			return writes[0], true, nil
		}
	}
	return w, false, lines.Err()
}
