// What the scenarios share: the way to the local Slack, and Slack's libraries.
import { createRequire } from 'node:module';

export const require = createRequire(process.env.PEER_FOLDER + '/');
export const api = process.env.API;
export const botToken = process.env.BOT_TOKEN;
export const appToken = process.env.APP_TOKEN;

const base = api.replace(/api\/$/, '_sim/');

// order does something in the workspace and returns what came of it.
export async function order(path, body = {}) {
  const answer = await fetch(base + path, { method: 'POST', body: JSON.stringify(body) });
  const { ok, error, result } = await answer.json();
  if (!ok) throw new Error(`${path}: ${error}`);
  return result;
}

export async function look(path) {
  return (await fetch(base + path)).json();
}

// seen waits until something is there: see GET /_sim/wait.
export async function seen(query) {
  const { ok, error, result } = await look('wait?timeout=20s&' + new URLSearchParams(query));
  if (!ok) throw new Error(error);
  return result;
}

// fresh forgets what was before, so that scenarios stand alone.
export async function fresh() {
  await order('reset');
  await order('link/on');
}

// clean is what every scenario ends with.
export async function clean(allowed = []) {
  const found = (await look('findings')).filter((f) => !allowed.includes(f.rule));
  if (found.length) throw new Error('findings: ' + JSON.stringify(found));
}

export const plain = (text) => ({ type: 'plain_text', text });
export const mrkdwn = (text) => ({ type: 'mrkdwn', text });
export const quiet = { debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, getLevel() { return 'error'; }, setName() {} };

// until calls back until it gets something true.
export async function until(what, get) {
  for (const end = Date.now() + 20_000; Date.now() < end;) {
    const got = await get();
    if (got) return got;
    await new Promise((done) => { setTimeout(done, 20); });
  }
  throw new Error('waited in vain for ' + what);
}
