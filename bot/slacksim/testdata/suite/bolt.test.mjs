// Slack's @slack/bolt against the local Slack: one app, a scenario a feature.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { api, appToken, botToken, clean, fresh, look, mrkdwn, order, plain, quiet, require, seen, until } from './sim.mjs';

const { App } = require('@slack/bolt');
const C = 'C0INC';
const heard = { own: 0, closed: 0, reactions: [], shortcuts: [] };
const app = new App({ token: botToken, appToken, socketMode: true, logger: quiet, clientOptions: { slackApiUrl: api } });

const input = (id, label, element) => ({ type: 'input', block_id: id, label: plain(label), element });
const modal = (title, blocks, more = {}) => ({ type: 'modal', callback_id: 'm', title: plain(title), submit: plain('Go'), blocks, ...more });
const reason = [input('why', 'Why', { type: 'plain_text_input', action_id: 'text' }),
  input('app', 'Application', { type: 'external_select', action_id: 'find', min_query_length: 1 })];
const card = [
  { type: 'section', text: mrkdwn('*card*') },
  { type: 'actions', block_id: 'r-1', elements: [
    { type: 'button', action_id: 'ask', value: 'r-1', text: plain('Ask') }, { type: 'button', action_id: 'done', text: plain('Done') },
    { type: 'static_select', action_id: 'pick', options: [{ text: plain('One'), value: '1' }, { text: plain('Two'), value: '2' }] },
    { type: 'overflow', action_id: 'more', options: [{ text: plain('Evidence'), value: 'evidence' }] }] }];

app.command('/reconcile', async ({ ack, command, respond, say }) => {
  if (command.text === 'public') { await ack({ response_type: 'in_channel', text: 'for all' }); return; }
  await ack();
  if (command.text === 'card') { await say({ text: 'card', blocks: card }); return; }
  await respond({ response_type: 'ephemeral', text: 'first' });
  await respond({ response_type: 'in_channel', text: 'for all, later' });
});
app.action('ask', async ({ ack, body, client }) => {
  await ack();
  await client.views.open({ trigger_id: body.trigger_id, view: modal('Ask', reason, { private_metadata: body.message.ts, notify_on_close: true }) });
});
app.action('done', async ({ ack, respond, body }) => {
  await ack();
  await respond({ replace_original: true, text: 'done by ' + body.user.name, blocks: [{ type: 'section', text: mrkdwn('*done*') }] });
});
app.action('pick', async ({ ack, action, body, client }) => {
  await ack();
  await client.chat.postMessage({ channel: C, thread_ts: body.container.message_ts, text: 'picked ' + action.selected_option.value });
});
app.action('more', async ({ ack, action, respond }) => {
  await ack();
  await respond({ response_type: 'ephemeral', replace_original: false, text: action.selected_option.value });
});
app.options('find', async ({ ack, options }) => {
  await ack({ options: ['payments-web', 'payments-db', 'search'].filter((n) => n.includes(options.value)).map((n) => ({ text: plain(n), value: n })) });
});
app.view('m', async ({ ack, view, client, body }) => {
  const { why, app: chosen } = view.state.values;
  switch (why.text.value) {
    case 'wrong': await ack({ response_action: 'errors', errors: { why: 'Say why.' } }); return;
    case 'again': await ack({ response_action: 'update', view: modal('Again', reason) }); return;
    case 'deeper': await ack({ response_action: 'push', view: modal('Deeper', reason) }); return;
    case 'all': await ack({ response_action: 'clear' }); return;
    default: await ack();
  }
  await client.chat.postMessage({ channel: C, text: `${body.user.name} chose ${chosen.find.selected_option.value}` });
});
app.view({ callback_id: 'm', type: 'view_closed' }, async ({ ack }) => { await ack(); heard.closed += 1; });
app.shortcut('reconcile_status', async ({ ack, shortcut, respond }) => {
  await ack();
  heard.shortcuts.push(shortcut.message.text);
  await respond('status');
});
app.shortcut('find_drift', async ({ ack, shortcut, client }) => {
  await ack();
  await client.views.open({ trigger_id: shortcut.trigger_id, view: modal('Drift', reason) });
});
app.event('app_mention', async ({ event, say }) => say({ thread_ts: event.ts, text: 'you called' }));
app.event('reaction_added', async ({ event }) => { heard.reactions.push(event.reaction); });
app.event('app_home_opened', async ({ event, client }) => client.views.publish({
  user_id: event.user, view: { type: 'home', blocks: [{ type: 'section', text: mrkdwn('hello') }] },
}));
app.message(async ({ message }) => { if (message.bot_id) heard.own += 1; });

before(async () => { await app.start(); await seen({ what: 'sockets', count: 1 }); });
after(() => app.stop());
beforeEach(fresh);

const alice = { user: 'alice', channel: C };
const slash = (text) => order('command', { ...alice, text: '/reconcile ' + text });

async function posted() {
  await slash('card');
  return (await seen({ what: 'message', channel: C, contains: 'card' })).ts;
}

async function asked() {
  const ts = await posted();
  await order('click', { ...alice, ts, element: 'Ask' });
  await seen({ what: 'view', user: 'alice', contains: 'Ask' });
  return ts;
}

test('answers to a command: in the acknowledgement, alone and for all', async () => {
  await slash('public');
  const both = (await look('messages?channel=' + C)).map((m) => m.text);
  assert.deepEqual(both, ['/reconcile public', 'for all']);
  await slash('twice');
  await seen({ what: 'ephemeral', user: 'alice', channel: C, contains: 'first' });
  await seen({ what: 'message', channel: C, contains: 'for all, later' });
  await clean();
});

test('a button opens a modal, which is refused, updated, pushed over, closed and sent', async () => {
  await asked();
  const submit = (why) => order('submit', { user: 'alice', values: { why, app: 'payments-db' } });
  const offered = await order('suggest', { user: 'alice', view: (await look('view?user=alice')).id, element: 'app', text: 'pay' });
  assert.deepEqual(offered.map((o) => o.value), ['payments-web', 'payments-db']);
  assert.equal((await submit('wrong')).errors.why, 'Say why.');
  await submit('again');
  await seen({ what: 'view', user: 'alice', contains: 'Again' });
  await submit('deeper');
  await seen({ what: 'view', user: 'alice', contains: 'Deeper' });
  await order('close', { user: 'alice' });
  await seen({ what: 'view', user: 'alice', contains: 'Again' });
  await submit('because');
  await seen({ what: 'no-view', user: 'alice' });
  await seen({ what: 'message', channel: C, contains: 'alice chose payments-db' });
  await clean();
});

test('a closed modal is told, a cleared one is gone', async () => {
  const before = heard.closed;
  await asked();
  await order('close', { user: 'alice' });
  await until('the close', async () => heard.closed === before + 1);
  await asked();
  await order('suggest', { user: 'alice', view: (await look('view?user=alice')).id, element: 'app', text: 'se' });
  await order('submit', { user: 'alice', values: { why: 'all', app: 'search' } });
  await seen({ what: 'no-view', user: 'alice' });
  await clean();
});

test('a message is replaced through its response URL; a late click finds the old button', async () => {
  const ts = await posted();
  await order('click', { ...alice, ts, element: 'Done' });
  await seen({ what: 'message', channel: C, contains: 'done' });
  await order('click', { user: 'bob', channel: C, ts, element: 'Done', version: 1 });
  await until('bob', async () => (await look('messages?channel=' + C)).some((m) => m.text === 'done by bob'));
  await clean();
});

test('a select and a menu', async () => {
  const ts = await posted();
  await order('click', { ...alice, ts, element: 'pick', choice: 'Two' });
  await seen({ what: 'thread', channel: C, ts, contains: 'picked 2' });
  await order('click', { ...alice, ts, element: 'more', choice: 'evidence' });
  await seen({ what: 'ephemeral', user: 'alice', channel: C, contains: 'evidence' });
  await clean();
});

test('two people press at the same time', async () => {
  const ts = await posted();
  await Promise.all(['alice', 'bob', 'gwen'].map((user) => order('click', { user, channel: C, ts, element: 'pick', choice: '1' })));
  await seen({ what: 'thread', channel: C, ts, contains: 'picked 1', count: 3 });
});

test('shortcuts, on a message and anywhere', async () => {
  const ts = await posted();
  await order('shortcut', { ...alice, ts, id: 'reconcile_status' });
  await seen({ what: 'ephemeral', user: 'alice', channel: C, contains: 'status' });
  assert.equal(heard.shortcuts.at(-1), 'card');
  await order('shortcut', { user: 'alice', id: 'find_drift' });
  await seen({ what: 'view', user: 'alice', contains: 'Drift' });
  await clean();
});

test('a mention in a thread, a reaction, a home tab', async () => {
  const ts = await posted();
  const { ts: called } = await order('message', { ...alice, thread: ts, text: '@reconcile are you there?' });
  await until('the answer', async () => (await look(`thread?channel=${C}&ts=${called}`)).length > 0
    && (await look('state')) && (await look(`thread?channel=${C}&ts=${ts}`)).length >= 2);
  await order('react', { ...alice, ts, name: 'eyes' });
  await until('the reaction', async () => heard.reactions.at(-1) === 'eyes');
  await order('home', { user: 'alice' });
  await until('the home tab', async () => order('home', { user: 'alice' }));
  await clean();
});

test('its own messages do not reach it', async () => {
  await posted();
  await until('the event', async () => (await look('transcript')).envelopes.some((e) => e.what === 'message.channels' && e.state === 'acked'));
  assert.equal(heard.own, 0);
  await clean();
});

test('a command while it is away, and when it is back', async () => {
  const connects = (await look('metrics')).connects;
  await order('disconnect', { how: 'reset' });
  await assert.rejects(slash('card'), /dispatch_failed/);
  await until('the next socket', async () => (await look('metrics')).connects > connects && (await look('connections')).length === 1);
  await posted();
  await clean();
});
