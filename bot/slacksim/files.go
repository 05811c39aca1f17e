package slacksim

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"reconcilebot/bot/slacksim/blockkit"
)

// maxSnippet is the size up to which a file can be shown as a snippet.
const maxSnippet = 1 << 20

// maxShares is from https://docs.slack.dev/reference/methods/files.completeUploadExternal.
const maxShares = 100

// File is an uploaded file.
type File struct {
	ID      string              `json:"id"`
	Name    string              `json:"name"`
	Title   string              `json:"title"`
	Snippet string              `json:"filetype"`
	Size    int                 `json:"size"`
	Shares  map[string][]string `json:"shares,omitempty"` // channel → ts of the messages
	Content []byte              `json:"-"`
	private []string            // the private ones among the channels
}

// upload is a file that was announced but not completed.
type upload struct {
	file     File
	length   int
	received bool
}

func uploadURL(s *Sim, c *call) (obj, *failure) {
	length := c.args.number("length", 0)
	switch {
	case c.args["filename"] == "" || length <= 0:
		return nil, fail("missing_argument")
	case c.args["snippet_type"] != "" && length > maxSnippet:
		return nil, fail("snippet_too_large")
	}
	id := s.id("F")
	key := s.secret(16)
	s.uploads[key] = &upload{length: length, file: File{ID: id, Name: c.args["filename"], Snippet: c.args["snippet_type"]}}
	return obj{"upload_url": c.base + "/upload/v1/" + key, "file_id": id}, nil
}

// receive serves the upload URL: raw bytes, or a form with one file in it.
func (s *Sim) receive(w http.ResponseWriter, r *http.Request) {
	body, err := uploaded(r)
	if err != nil {
		http.Error(w, "upload: "+err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.uploads[strings.TrimPrefix(r.URL.Path, "/upload/v1/")]
	switch {
	case u == nil:
		http.Error(w, "upload: no such upload", http.StatusNotFound)
	case len(body) != u.length:
		http.Error(w, fmt.Sprintf("upload: %d bytes were announced and %d came", u.length, len(body)), http.StatusBadRequest)
	default:
		s.inspect("file "+u.file.Name, string(body))
		u.file.Content, u.file.Size, u.received = body, len(body), true
		_, _ = fmt.Fprintf(w, "OK - %d", len(body)) // a client that is gone needs no answer
	}
}

func uploaded(r *http.Request) ([]byte, error) {
	body := io.LimitReader(r.Body, 64<<20)
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		return io.ReadAll(body)
	}
	// slack-go closes the form twice, so only the first part is read.
	part, err := multipart.NewReader(body, params["boundary"]).NextPart()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(part)
}

func completeUpload(s *Sim, c *call) (obj, *failure) {
	var wanted []struct{ ID, Title string }
	if json.Unmarshal([]byte(c.args["files"]), &wanted) != nil || len(wanted) == 0 {
		return nil, fail("invalid_arguments")
	}
	channels := strings.FieldsFunc(c.args["channels"]+","+c.args["channel_id"], func(r rune) bool { return r == ',' })
	if c.args["thread_ts"] != "" && len(channels) != 1 {
		return nil, fail("invalid_arguments")
	}
	for _, id := range channels {
		_, f := s.postable(id)
		switch {
		case f == nil:
		case f.code == "channel_not_found" || f.code == "not_in_channel":
			return nil, f
		default:
			return nil, fail("posting_to_channel_denied")
		}
	}
	if len(channels) > maxShares {
		return nil, fail("channels_limit_exceeded")
	}
	blocks, f := s.blocks(c.args["blocks"], blockkit.Message)
	if f != nil {
		return nil, f
	}
	if c.args["initial_comment"] != "" {
		blocks = nil // "if you provide both, blocks is ignored"
	}
	var done []*File
	for _, w := range wanted {
		f, bad := s.complete1(w.ID, w.Title)
		if bad != nil {
			return nil, bad
		}
		done = append(done, f)
	}
	if !c.lose {
		s.clock.AfterFunc(s.opts.ShareDelay, func() { s.share(done, channels, c.args, blocks) })
	}
	out := []obj{}
	for _, f := range done {
		out = append(out, s.wireFile(*f, c.base))
	}
	return obj{"files": out}, nil
}

func (s *Sim) complete1(id, title string) (*File, *failure) {
	for key, u := range s.uploads {
		if u.file.ID != id {
			continue
		}
		if !u.received {
			return nil, fail("file_not_found")
		}
		delete(s.uploads, key)
		f := u.file
		f.Title, f.Shares = title, map[string][]string{}
		if f.Title == "" {
			f.Title = f.Name
		}
		s.files[id] = &f
		s.fileIDs = append(s.fileIDs, id)
		return &f, nil
	}
	return nil, fail("file_not_found")
}

// share posts completed files. It happens after the answer, as on Slack, where
// files are scanned first.
func (s *Sim) share(files []*File, channels []string, a args, blocks []Block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	for _, id := range channels {
		room := s.channels[id]
		if room == nil {
			continue
		}
		thread, _ := room.thread(a["thread_ts"])
		m := Message{
			TS: s.ts(), ThreadTS: thread, Channel: id, User: s.app.UserID, BotID: s.app.BotID,
			Subtype: "file_share", Text: a["initial_comment"], Blocks: blocks,
		}
		for _, f := range files {
			// Messages keep the file as it was: readers hold no lock.
			f.Shares = maps.Clone(f.Shares)
			f.Shares[id] = append(slices.Clone(f.Shares[id]), m.TS)
			if room.Private {
				f.private = append(f.private, id)
			}
			m.Files = append(m.Files, *f)
		}
		s.inspectContent("file comment", m.Text, blocks)
		s.emitMessage(room.add(m).Message)
	}
	s.bump()
}

func filesInfo(s *Sim, c *call) (obj, *failure) {
	f := s.files[c.args["file"]]
	if f == nil {
		return nil, fail("file_not_found")
	}
	return obj{"file": s.wireFile(*f, c.base), "comments": []obj{}}, nil
}

func filesDelete(s *Sim, c *call) (obj, *failure) {
	if s.files[c.args["file"]] == nil {
		return nil, fail("file_not_found")
	}
	delete(s.files, c.args["file"])
	return obj{}, nil
}

func (s *Sim) wireFile(f File, base string) obj {
	public, private := obj{}, obj{}
	for id, all := range f.Shares {
		var seen []obj
		for _, ts := range all {
			seen = append(seen, obj{"ts": ts})
		}
		if slices.Contains(f.private, id) {
			private[id] = seen
		} else {
			public[id] = seen
		}
	}
	shares := obj{}
	if len(public) > 0 {
		shares["public"] = public
	}
	if len(private) > 0 {
		shares["private"] = private
	}
	url := base + "/files-pri/" + s.team.ID + "-" + f.ID + "/" + f.Name
	return obj{
		"id": f.ID, "name": f.Name, "title": f.Title, "filetype": f.Snippet, "size": f.Size, "user": s.app.UserID,
		"mimetype": "text/plain", "mode": "hosted", "url_private": url, "url_private_download": url, "shares": shares,
	}
}

func (s *Sim) wireFiles(files []File) []obj {
	var out []obj
	for _, f := range files {
		out = append(out, s.wireFile(f, "http://"+s.host))
	}
	return out
}

// serveFile gives a file to the app with its token, and to the page. Others
// are sent to the login page, with status 200 in the end, as on Slack.
func (s *Sim) serveFile(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	fromPage := r.Header.Get("Sec-Fetch-Site") == "same-origin"
	if token != s.opts.BotToken && !fromPage {
		http.Redirect(w, r, "/login", http.StatusFound)
		return
	}
	rest := strings.TrimPrefix(r.URL.Path, "/files-pri/"+s.team.ID+"-")
	id, _, _ := strings.Cut(rest, "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[id]
	if f == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(f.Content) // a client that is gone needs no answer
}
