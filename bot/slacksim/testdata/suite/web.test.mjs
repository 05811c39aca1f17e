// Slack's @slack/web-api against the local Slack.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { api, botToken, appToken, clean, fresh, look, mrkdwn, order, plain, quiet, require, until } from './sim.mjs';

const { WebClient, ErrorCode } = require('@slack/web-api');
const client = new WebClient(botToken, { slackApiUrl: api, logger: quiet });
const C = 'C0INC';

beforeEach(fresh);

test('who am I', async () => {
  const me = await client.auth.test();
  assert.equal(me.user_id, 'U0BOT');
  assert.ok(me.response_metadata.scopes.includes('chat:write'), 'the scopes come in a header');
  await clean();
});

test('a message is posted, changed, linked to and deleted', async () => {
  const posted = await client.chat.postMessage({ channel: C, text: 'one', metadata: { event_type: 'plan', event_payload: { id: 'r-1' } } });
  assert.equal(posted.message.text, 'one');
  const changed = await client.chat.update({ channel: C, ts: posted.ts, text: 'two', blocks: [{ type: 'section', text: mrkdwn('*two*') }] });
  assert.equal(changed.text, 'two');
  const { permalink } = await client.chat.getPermalink({ channel: C, message_ts: posted.ts });
  assert.match(permalink, /archives\/C0INC\/p\d+/);
  const { messages } = await client.conversations.history({ channel: C, include_all_metadata: true });
  assert.equal(messages[0].metadata.event_payload.id, 'r-1');
  await client.chat.delete({ channel: C, ts: posted.ts });
  await assert.rejects(client.chat.update({ channel: C, ts: posted.ts, text: 'three' }), { code: ErrorCode.PlatformError });
  await clean();
});

test('what Slack refuses comes with its detail', async () => {
  const bad = client.chat.postMessage({ channel: C, text: 'x', blocks: [{ type: 'header', text: plain('a'.repeat(151)) }] });
  await assert.rejects(bad, (e) => {
    assert.equal(e.data.error, 'invalid_blocks');
    assert.match(e.data.response_metadata.messages[0], /must be less than 151 characters \[json-pointer:\/blocks\/0\/text\/text\]/);
    return true;
  });
  await assert.rejects(client.chat.postMessage({ channel: 'C0NONE', text: 'x' }), /channel_not_found/);
  await assert.rejects(client.apiCall('apps.connections.open'), /not_allowed_token_type/);
  await assert.rejects(new WebClient('xoxb-no', { slackApiUrl: api, logger: quiet }).auth.test(), /invalid_auth/);
  await clean();
});

test('it waits as long as it is told, and then goes on', async () => {
  await order('faults', { rule: { method: 'chat.postMessage', status: 429, retry_after: 1, times: 1 } });
  const waits = [];
  const patient = new WebClient(botToken, { slackApiUrl: api, logger: quiet });
  patient.on('rate_limited', (seconds) => waits.push(seconds));
  const began = Date.now();
  assert.equal((await patient.chat.postMessage({ channel: C, text: 'x' })).ok, true);
  assert.deepEqual(waits, [1]);
  assert.ok(Date.now() - began >= 900, 'it came back too early');
  const hasty = new WebClient(botToken, { slackApiUrl: api, logger: quiet, rejectRateLimitedCalls: true });
  await order('faults', { rule: { method: 'chat.postMessage', status: 429, retry_after: 7, times: 1 } });
  await assert.rejects(hasty.chat.postMessage({ channel: C, text: 'x' }), { code: ErrorCode.RateLimitedError, retryAfter: 7 });
});

test('it tries again after an error of the server, and after a lost answer posts twice', async () => {
  const eager = new WebClient(botToken, { slackApiUrl: api, logger: quiet, retryConfig: { retries: 3, minTimeout: 1, maxTimeout: 5 } });
  await order('faults', { rule: { method: 'chat.postMessage', status: 503, times: 2 } });
  await eager.chat.postMessage({ channel: C, text: 'after two errors' });
  assert.equal((await look('messages?channel=' + C)).length, 1);
  await order('faults/clear');
  await order('faults', { rule: { method: 'chat.postMessage', drop_answer: true, times: 1 } });
  await eager.chat.postMessage({ channel: C, text: 'lost' });
  const lost = (await look('messages?channel=' + C)).filter((m) => m.text === 'lost');
  assert.equal(lost.length, 2, 'a post whose answer is lost has happened');
});

test('lists are read page by page', async () => {
  for (let n = 0; n < 7; n += 1) await order('message', { user: 'alice', channel: C, text: 'n' + n });
  const texts = [];
  for await (const page of client.paginate('conversations.history', { channel: C, limit: 3 })) texts.push(...page.messages.map((m) => m.text));
  assert.deepEqual(texts, ['n6', 'n5', 'n4', 'n3', 'n2', 'n1', 'n0']);
  await assert.rejects(client.conversations.history({ channel: C, cursor: 'bm9uZQ==' }), /invalid_cursor/);
  await clean();
});

test('files go up in three steps, several at once, into a thread', async () => {
  const { ts } = await client.chat.postMessage({ channel: C, text: 'card' });
  await client.filesUploadV2({
    channel_id: C, thread_ts: ts, initial_comment: 'both diffs',
    file_uploads: [
      { filename: 'a.diff', content: '- a\n+ ä\n', snippet_type: 'diff' }, { filename: 'b.diff', file: Buffer.from('+ b\n'), title: 'B' }],
  });
  const { result } = await look('wait?' + new URLSearchParams({ what: 'thread', channel: C, ts, contains: 'both diffs' }));
  assert.equal(result.files.length, 2);
  const info = await client.files.info({ file: result.files[0].id });
  assert.equal(info.file.shares.public[C][0].ts, result.ts);
  const got = await fetch(info.file.url_private, { headers: { Authorization: 'Bearer ' + botToken } });
  assert.equal(await got.text(), '- a\n+ ä\n');
  assert.match(await (await fetch(info.file.url_private)).text(), /Sign in/);
  await clean();
});

test('ephemeral and scheduled messages', async () => {
  await client.chat.postEphemeral({ channel: C, user: 'U0ALICE', text: 'only you' });
  assert.equal((await look('ephemerals?user=bob&channel=' + C)).length, 0);
  await assert.rejects(client.chat.postEphemeral({ channel: C, user: 'U0GONE', text: 'x' }), /user_not_in_channel/);
  const { scheduled_message_id: id } = await client.chat.scheduleMessage({ channel: C, text: 'later', post_at: Math.floor(Date.now() / 1000) + 3600 });
  assert.equal((await client.chat.scheduledMessages.list()).scheduled_messages[0].id, id);
  await client.chat.deleteScheduledMessage({ channel: C, scheduled_message_id: id });
  await assert.rejects(client.chat.scheduleMessage({ channel: C, text: 'x', post_at: 1 }), /time_in_past/);
  await clean();
});

test('people, groups, marks', async () => {
  assert.equal((await client.users.lookupByEmail({ email: 'alice@example.com' })).user.id, 'U0ALICE');
  assert.equal((await client.users.info({ user: 'U0GWEN' })).user.is_restricted, true);
  assert.deepEqual((await client.usergroups.users.list({ usergroup: 'S0OWN' })).users, ['U0BOB']);
  const { ts } = await client.chat.postMessage({ channel: C, text: 'x' });
  await client.reactions.add({ channel: C, timestamp: ts, name: 'eyes' });
  await assert.rejects(client.reactions.add({ channel: C, timestamp: ts, name: 'eyes' }), /already_reacted/);
  await client.pins.add({ channel: C, timestamp: ts });
  assert.equal((await client.pins.list({ channel: C })).items.length, 1);
  await clean();
});

test('a socket needs the other token', async () => {
  const opened = await new WebClient(appToken, { slackApiUrl: api, logger: quiet }).apps.connections.open();
  assert.match(opened.url, /^ws:.*ticket=.*app_id=A0APP/);
  await until('nothing', async () => true);
  await clean();
});
