package state

// The file, bucket by bucket. TestSchemaDrawing compares this drawing with
// the buckets of a new file.
//
//	meta             "schema" → version
//	deliveries       DeliveryID → Delivery          what people sent, until 24 h after it was handled
//	pending          DeliveryID → time              deliveries not handled yet
//	incidents        IncidentID → Incident
//	rooms            Room → IncidentID              the open incident of a room
//	reconciliations  ReconciliationID → Reconciliation
//	open             ReconciliationID → target      those not closed yet
//	leases           lease → ReconciliationID       who may act on a target, and who pauses it
//	redraws          ReconciliationID → revision    cards that show an older revision
//	notices          NoticeID → Notice              what is still to be said, in order
//	reviews          ReconciliationID → time        overrides that nobody else has reviewed yet
//	messages         MessageKey → Message           where something was said, to edit it there
//	unfiled          ReconciliationID → revision    those whose tickets may show an older revision
//	filings          "id/system/ticket" → Filing    where a record stands on a ticket, to edit it there
//	limits           name → time                    until when a service wants something left alone
//	facts            "object/time/id" → Fact        what was seen to be done to an object
//	journal          sequence → Entry               every act and fact, chained by hash
const (
	schemaVersion = 3
	versionKey    = "schema"
)

type pendingSince struct {
	Since timeUTC `json:"since"`
}

var (
	meta            = bucket[string, int]{"meta"}
	deliveries      = bucket[DeliveryID, Delivery]{"deliveries"}
	pending         = bucket[DeliveryID, pendingSince]{"pending"}
	incidents       = bucket[IncidentID, Incident]{"incidents"}
	rooms           = bucket[Room, IncidentID]{"rooms"}
	reconciliations = bucket[ReconciliationID, Reconciliation]{"reconciliations"}
	open            = bucket[ReconciliationID, string]{"open"}
	leases          = bucket[string, ReconciliationID]{"leases"}
	redraws         = bucket[ReconciliationID, uint64]{"redraws"}
	notices         = bucket[NoticeID, Notice]{"notices"}
	reviews         = bucket[ReconciliationID, timeUTC]{"reviews"}
	messages        = bucket[MessageKey, Message]{"messages"}
	unfiled         = bucket[ReconciliationID, uint64]{"unfiled"}
	filings         = bucket[filingKey, Filing]{"filings"}
	limits          = bucket[string, timeUTC]{"limits"}
	facts           = bucket[string, Fact]{"facts"}
	journal         = bucket[string, Entry]{"journal"}
)

var bucketNames = []string{
	meta.name, deliveries.name, pending.name, incidents.name, rooms.name,
	reconciliations.name, open.name, leases.name, redraws.name, notices.name,
	reviews.name, messages.name, unfiled.name, filings.name, limits.name, facts.name, journal.name,
}
