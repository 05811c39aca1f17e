// GitHub's own client for Node goes the way of a pull request on the local
// GitHub, of which it knows nothing.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "node:test";

const require = createRequire(path.join(process.env.PEER_FOLDER, "package.json"));
const { Octokit } = await import(pathToFileURL(path.join(process.env.PEER_FOLDER, "node_modules/@octokit/rest/dist-src/index.js")));
assert.ok(require);

const client = (token) => new Octokit({ baseUrl: process.env.API, auth: token, log: { debug() {}, info() {}, warn() {}, error() {} } });
const bot = client(process.env.BOT_TOKEN);
const carol = client(process.env.CAROL_TOKEN);
const gwen = client(process.env.GWEN_TOKEN);
const at = { owner: "acme", repo: "gitops" };
const file = "prod/web.yaml";

const refused = async (status, call) => assert.rejects(call, (err) => err.status === status || assert.fail(`${err.status} instead of ${status}: ${err.message}`));

test("who is who", async () => {
  assert.equal((await bot.rest.users.getAuthenticated()).data.login, "bot");
  assert.equal((await bot.rest.repos.get(at)).data.default_branch, "main");
  await refused(404, () => gwen.rest.repos.get(at));
  await refused(401, () => client("ghp_nobody").rest.users.getAuthenticated());
  assert.equal((await bot.rest.repos.getCollaboratorPermissionLevel({ ...at, username: "carol" })).data.permission, "write");
});

test("lists are followed to their end", async () => {
  const members = await bot.paginate(bot.rest.teams.listMembersInOrg, { org: "acme", team_slug: "many", per_page: 100 });
  assert.equal(members.length, 250);
});

test("a commit by Git's data", async () => {
  const main = await bot.rest.git.getRef({ ...at, ref: "heads/main" });
  const base = main.data.object.sha;
  const blob = await bot.rest.git.createBlob({ ...at, content: "replicas: 6\n", encoding: "utf-8" });
  const tree = await bot.rest.git.createTree({ ...at, base_tree: base, tree: [{ path: file, mode: "100644", type: "blob", sha: blob.data.sha }] });
  const commit = await bot.rest.git.createCommit({ ...at, message: "scale", tree: tree.data.sha, parents: [base] });
  assert.equal(commit.data.verification.verified, true);
  await bot.rest.git.createRef({ ...at, ref: "refs/heads/scale", sha: commit.data.sha });
  await refused(422, () => bot.rest.git.createRef({ ...at, ref: "refs/heads/scale", sha: base }));
  const diff = await bot.rest.repos.compareCommitsWithBasehead({ ...at, basehead: "main...scale" });
  assert.equal(diff.data.ahead_by, 1);
  assert.equal(diff.data.files[0].filename, file);
});

test("the rules are read", async () => {
  const rules = await bot.rest.repos.getBranchRules({ ...at, branch: "main" });
  const review = rules.data.find((rule) => rule.type === "pull_request");
  assert.equal(review.parameters.required_approving_review_count, 1);
  assert.equal((await bot.rest.repos.getBranch({ ...at, branch: "main" })).data.protected, true);
  await refused(404, () => bot.rest.repos.getBranchProtection({ ...at, branch: "main" }));
});

test("from the pull request to its merge", async () => {
  const made = await bot.rest.pulls.create({ ...at, head: "scale", base: "main", title: "Scale", body: "why" });
  const pull = { ...at, pull_number: made.data.number };
  const issue = { ...at, issue_number: made.data.number };
  await refused(422, () => bot.rest.pulls.create({ ...at, head: "scale", base: "main", title: "Scale" }));
  await bot.rest.issues.addLabels({ ...issue, labels: ["reconcile"] });
  await bot.rest.issues.addAssignees({ ...issue, assignees: ["bob", "gwen"] });
  await bot.rest.pulls.requestReviewers({ ...pull, team_reviewers: ["payments"] });
  await refused(422, () => bot.rest.pulls.requestReviewers({ ...pull, reviewers: ["bot"] }));
  await bot.rest.issues.createComment({ ...issue, body: "hello" });
  await bot.rest.pulls.update({ ...pull, body: "why not" });

  let now = await bot.rest.pulls.get(pull);
  while (now.data.mergeable === null) now = await bot.rest.pulls.get(pull);
  assert.equal(now.data.mergeable_state, "blocked");
  assert.equal(now.data.body, "why not");
  assert.deepEqual(now.data.labels.map((l) => l.name), ["reconcile"]);
  assert.deepEqual(now.data.assignees.map((a) => a.login), ["bob"]);
  await refused(405, () => bot.rest.pulls.merge({ ...pull, sha: now.data.head.sha }));

  await bot.rest.repos.createCommitStatus({ ...at, sha: now.data.head.sha, state: "success", context: "validate" });
  await refused(422, () => bot.rest.pulls.createReview({ ...pull, event: "APPROVE" }));
  await carol.rest.pulls.createReview({ ...pull, event: "APPROVE" });
  assert.equal((await bot.rest.pulls.listReviews(pull)).data[0].state, "APPROVED");
  assert.equal((await bot.rest.repos.getCombinedStatusForRef({ ...at, ref: now.data.head.sha })).data.state, "success");

  await refused(409, () => bot.rest.pulls.merge({ ...pull, sha: "0".repeat(40) }));
  const merged = await bot.rest.pulls.merge({ ...pull, merge_method: "squash", sha: now.data.head.sha });
  assert.equal(merged.data.merged, true);
  const after = await bot.rest.pulls.get(pull);
  assert.equal(after.data.merged_by.login, "bot");
  assert.equal(after.data.merge_commit_sha, merged.data.sha);
  const content = await bot.rest.repos.getContent({ ...at, path: file });
  assert.equal(Buffer.from(content.data.content, "base64").toString(), "replicas: 6\n");
});

test("what has not changed is not sent again", async () => {
  const first = await bot.rest.repos.get(at);
  await refused(304, () => bot.request("GET /repos/{owner}/{repo}", { ...at, headers: { "if-none-match": first.headers.etag } }));
  assert.ok(Number(first.headers["x-ratelimit-remaining"]) > 0);
});
