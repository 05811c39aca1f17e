// Slack's @slack/socket-mode against the local Slack.
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { api, appToken, clean, fresh, look, order, quiet, require, seen, until } from './sim.mjs';

const { SocketModeClient } = require('@slack/socket-mode');
const C = 'C0INC';
let app;

// start connects a client that acknowledges everything and remembers it.
async function start(options = {}) {
  app = new SocketModeClient({
    appToken, logger: quiet, clientPingTimeout: 400, serverPingTimeout: 2000,
    clientOptions: { slackApiUrl: api, retryConfig: { retries: 5, minTimeout: 10, maxTimeout: 50 } }, ...options,
  });
  app.got = [];
  app.ended = 0;
  app.on('slack_event', async (e) => {
    app.got.push(e);
    if (!app.deaf && e.envelope_id) await e.ack(); // it passes on frames that are no envelopes, too
  });
  await app.start();
  await seen({ what: 'sockets', count: 1 });
}

const command = () => order('command', { user: 'alice', channel: C, text: '/reconcile help' });
const sockets = async () => (await look('metrics')).connects;

beforeEach(async () => {
  if (app) await app.disconnect();
  app = undefined;
  await until('no sockets', async () => (await look('connections')).length === 0);
  await fresh();
});
after(async () => { if (app) await app.disconnect(); });

test('a command is delivered and answered in the acknowledgement', async () => {
  await start();
  app.removeAllListeners('slack_event');
  app.on('slash_commands', async ({ ack, body }) => ack({ text: 'heard ' + body.text }));
  assert.equal((await command()).text, 'heard help');
  await clean();
});

for (const how of ['refresh_requested', 'reset', 'close', 'close_1000', 'close_1011', 'truncated_frame', 'silent']) {
  test(`it comes back after ${how}`, async () => {
    await start();
    const before = await sockets();
    await order('disconnect', { how });
    await until('the next socket', async () => (await sockets()) > before && (await look('connections')).some((c) => !c.spoiled));
    await until('the old socket to end', async () => (await look('connections')).every((c) => !c.spoiled));
    await command();
    await clean();
  });
}

test('a missing ping ends the socket', async () => {
  await start({ serverPingTimeout: 1200, clientPingTimeout: 300 });
  const before = await sockets();
  await order('disconnect', { how: 'no_pings' });
  await until('the next socket', async () => (await sockets()) > before);
  await command();
  await clean();
});

for (const how of ['garbage', 'empty_frame', 'binary_frame', 'unknown_frame']) {
  test(`it stays after: ${how}`, async () => {
    await start();
    const before = await sockets();
    await order('disconnect', { how });
    await command();
    assert.equal(await sockets(), before);
    await clean();
  });
}

test('a storm of disconnects ends', async () => {
  await start();
  const before = await sockets();
  await order('storm', { count: 3 });
  await order('disconnect', { how: 'refresh_requested' });
  await until('four more sockets', async () => (await sockets()) >= before + 4 && (await look('connections')).length === 1);
  await command();
  await clean();
});

test('a refused handshake is tried again', async () => {
  await start();
  const before = await sockets();
  await order('faults', { rule: { route: 'link', status: 409, times: 2 } });
  await order('disconnect', { how: 'refresh_requested' });
  await until('the next socket', async () => (await sockets()) > before);
  await command();
  await clean();
});

test('an event comes again until it is acknowledged, and says so', async () => {
  await start();
  app.deaf = true;
  await order('message', { user: 'alice', channel: C, text: '@reconcile hello' });
  const mentions = () => app.got.filter((e) => e.body.event && e.body.event.type === 'app_mention');
  await until('a second attempt', async () => mentions().length >= 2);
  app.deaf = false;
  const [first, second] = mentions();
  assert.equal(first.retry_num, 0);
  assert.deepEqual([second.retry_num, second.retry_reason], [1, 'timeout']);
  assert.equal(first.body.event_id, second.body.event_id);
  await clean(['envelope-not-acknowledged', 'acknowledged-late']);
});

test('when Socket Mode is switched off it stays off, until it is on again', async () => {
  await start();
  const before = await sockets();
  await order('disconnect', { how: 'link_disabled' });
  await until('no socket', async () => (await look('connections')).length === 0);
  await assert.rejects(command(), /dispatch_failed/);
  await order('link/on');
  await until('the next socket', async () => (await sockets()) > before);
  await command();
  await clean();
});
