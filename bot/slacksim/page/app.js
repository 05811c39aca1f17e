// The page: one person's view of the workspace, kept in step with it.
import { $, h, keyed } from './dom.js';
import { follow, look, order } from './api.js';
import { values } from './blocks.js';
import { ask, showVersions, showView } from './dialogs.js';
import { avatar, drawMessage } from './messages.js';
import { composer } from './composer.js';
import { drawChaos } from './chaos.js';
import { drawInspector } from './inspector.js';
import { drawClock } from './clock.js';
import { drawDemo } from './demo.js';
import { showFile } from './files.js';

// What a demo link holds: who, where, which thread, and whether the inspector
// is open.
const state = Object.fromEntries(new URLSearchParams(location.search));
let screen = { people: [], channels: [], messages: [], groups: [], commands: [], shortcuts: [], views: [], app: {}, team: {} };
const read = new Map(); // channel id → ts last seen

const by = (list, id) => list.find((x) => x.id === id || x.name === id);
const person = (id) => by(screen.people, id);
const me = () => person(state.as) || screen.people.find((u) => !u.is_bot && !u.deleted);
const here = () => (screen.channels.map((c) => c.channel).find((c) => c.id === state.channel || c.name === state.channel));

const ctx = {
  user: (id) => (person(id) || { name: id }).name,
  channel: (id, label) => (by(screen.channels.map((c) => c.channel), id) || { name: label || id }).name,
  group: (id) => (screen.groups.find((g) => g.id === id) || { handle: id }).handle,
  people: () => screen.people.filter((u) => !u.deleted),
  suggest: async (b, e, typed, at) => (await order('suggest', {
    user: me().id, channel: at.channel || '', ts: at.ts || '', view: at.view || '', element: e.action_id, text: typed,
  })),
  rooms: () => screen.channels.map((c) => c.channel).filter((c) => !c.is_im),
  actInView: (view, b, e, choice) => press(e, () => order('click', {
    user: me().id, view: view.id, element: e.action_id, choice, values: values($('modal')),
  }), 'modal'),
};

const page = {
  ctx, person, team: () => screen.team.id,
  textOnly: () => state.text === '1',
  setTextOnly: (on) => go({ text: on ? '1' : '' }),
  shortcuts: () => (screen.shortcuts || []).filter((s) => s.type === 'message'),
  act: (m, b, e, choice, version) => press(e, () => order('click', {
    user: me().id, channel: m.channel, ts: m.ts, element: e.action_id, choice, version: version || 0,
    values: version ? {} : typedIn(m),
  }), m.thread_ts ? 'thread' : 'room'),
  versions: (m) => showVersions(m, ctx, (old, b, e, choice, version) => { $('versions').close(); page.act(old, b, e, choice, version); }),
  openThread: (ts) => go({ thread: ts }),
  file: (f) => showFile(f, screen.team.id),
  go: (changes) => go(changes),
  told: (answer) => told(answer),
  demoStep: () => (state.demo ? Number(state.demo) - 1 : null),
  shortcut: async (m, s) => told(await order('shortcut', { user: me().id, channel: m.channel, ts: m.ts, id: s.callback_id }), 'room'),
};

// typedIn is what stands in the inputs of a message.
function typedIn(m) {
  const li = document.getElementById('r' + m.ts) || document.getElementById('m' + m.ts);
  return li ? values(li) : {};
}

async function press(e, send, where) {
  if (e.confirm && !(await ask(e.confirm, ctx))) return;
  told(await send(), where);
}

// told shows what Slack would say when the app does not answer.
function told(answer, where = 'room') {
  const box = $(where === 'modal' ? 'modal-alert' : where + '-alert');
  if (!box) return;
  if (answer && answer.ok === false) {
    box.replaceChildren(h('p', { 'data-testid': 'failure' }, answer.error,
      h('button', { className: 'quiet', type: 'button', 'aria-label': 'Dismiss', onclick: () => box.replaceChildren() }, '✕')));
  } else box.replaceChildren();
}

// go changes the address, so that every state of the page can be linked to.
function go(changes) {
  Object.assign(state, changes);
  const q = new URLSearchParams(Object.entries(state).filter(([, v]) => v));
  history.replaceState(null, '', '?' + q);
  refresh();
}

async function send(text, thread) {
  const where = thread ? 'thread' : 'room';
  const body = { user: me().id, channel: here().id, thread: thread || '', text };
  const invite = text.match(/^\/invite\s+@?(\S+)/);
  if (invite) return told(await order('invite', { ...body, name: invite[1] }), where);
  told(await order(text.startsWith('/') ? 'command' : 'message', body), where);
  $(thread ? 'replies' : 'messages').scrollTop = 1e9;
}

const commands = () => [...(screen.commands || []), { command: '/invite', usage_hint: '@' + (screen.app.name || 'app'), description: 'Bring someone, or the app, into this channel' }];

function drawPersonas() {
  const people = screen.people.filter((u) => !u.is_bot && !u.deleted);
  keyed($('personas'), people.map((u) => ({ key: u.id, data: { ...u, on: u.id === me().id } })), (u) => h('button', {
    type: 'button', role: 'radio', 'aria-checked': String(u.on), className: 'persona', 'data-testid': 'persona-' + u.name,
    title: `${u.real_name}${u.role ? ', ' + u.role : ''}`, onclick: () => { told(null); go({ as: u.name }); },
  }, avatar(u), h('span', {}, h('strong', {}, u.name), h('small', {}, roleOf(u)))));
}

function roleOf(u) {
  if (u.is_stranger || u.team_id !== screen.team.id) return 'other organisation';
  if (u.is_ultra_restricted) return 'single-channel guest';
  if (u.is_restricted) return 'guest';
  return u.role || (u.is_admin ? 'admin' : 'member');
}

function drawSidebar() {
  const open = here();
  if (open) {
    const c = screen.channels.find((x) => x.channel.id === open.id);
    read.set(me().id + open.id, c.last);
  }
  keyed($('channels'), screen.channels.map((c) => ({
    key: c.channel.id, data: { c: c.channel, on: open && c.channel.id === open.id, unread: c.last > (read.get(me().id + c.channel.id) || '') },
  })), ({ c, on, unread }) => h('li', {}, h('button', {
    type: 'button', 'data-testid': 'channel-' + (c.name || c.id), 'aria-current': on ? 'page' : undefined, className: unread ? 'unread' : '',
    onclick: () => { told(null); go({ channel: c.name || c.id, thread: '', message: '' }); },
  }, h('span', { 'aria-hidden': 'true' }, c.is_im ? '●' : c.is_private ? '◆' : '#'), c.name || screen.app.name, badges(c))));
}

function badges(c) {
  const list = [[c.is_private && !c.is_im, 'private'], [c.is_ext_shared, 'shared'], [c.is_archived, 'archived'], [c.is_read_only, 'read only']];
  return list.filter(([on]) => on).map(([, name]) => h('span', { className: 'badge ' + name.replace(' ', '-') }, name));
}

function drawRoom() {
  const c = here();
  $('room-name').textContent = c ? (c.is_im ? screen.app.name : '#' + c.name) : 'No channel';
  $('room-topic').textContent = c ? c.topic || `${c.members.length} members` : '';
  $('room-badges').replaceChildren(...(c ? badges(c) : []));
  const row = c && screen.channels.find((x) => x.channel.id === c.id);
  notice(c, row);
  const main = screen.messages.filter((m) => !m.thread_ts || m.reply_broadcast || (m.is_ephemeral && !m.thread_ts));
  fill($('messages'), main, false);
  drawThread();
}

function notice(c, row) {
  const box = $('room-notice');
  const away = row && !row.app && !c.is_im;
  box.hidden = !away;
  if (away) {
    box.replaceChildren(`${screen.app.name} is not in this channel and can’t post here. `,
      h('button', { className: 'btn', type: 'button', 'data-testid': 'invite', onclick: async () => told(await order('invite', { user: me().id, channel: c.id, name: screen.app.user_id })) }, `Invite ${screen.app.name}`));
  }
}

function fill(list, messages, inThread) {
  const sorted = [...messages].sort((a, b) => (a.ts < b.ts ? -1 : 1));
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  const names = { as: me().id, text: state.text };
  keyed(list, sorted.map((m) => ({ key: m.ts + names.as + (names.text || ''), data: m })), (m) => drawMessage(m, page, inThread));
  if (atEnd) list.scrollTop = list.scrollHeight;
  const target = state.message && document.getElementById((inThread ? 'r' : 'm') + state.message);
  if (target && !target.classList.contains('target')) {
    target.classList.add('target');
    target.scrollIntoView({ block: 'center' });
  }
}

function drawThread() {
  const parent = screen.messages.find((m) => m.ts === state.thread);
  $('thread').hidden = !parent;
  document.body.classList.toggle('with-thread', Boolean(parent));
  if (!parent) return;
  fill($('replies'), [parent, ...screen.messages.filter((m) => m.thread_ts === parent.ts && m.ts !== parent.ts)], true);
}

function drawTop() {
  document.title = `${here() ? '#' + here().name : screen.team.name} · ${me() ? me().name : ''} · local Slack`;
  $('team').textContent = screen.team.name;
  const n = screen.connections;
  $('lamp').className = 'lamp ' + (n ? 'on' : 'off');
  $('lamp').textContent = n ? `${screen.app.name} is connected` : `${screen.app.name} is not connected`;
  $('lamp').title = n === 1 ? '1 socket' : `${n} sockets`;
  $('inspect').setAttribute('aria-pressed', String(state.inspect === '1'));
}

// drawShortcuts lists the app's global shortcuts: they belong to no message.
function drawShortcuts() {
  const all = (screen.shortcuts || []).filter((s) => s.type === 'global');
  $('shortcuts').hidden = all.length === 0;
  keyed($('shortcut-items'), all.map((s) => ({ key: s.callback_id, data: s })), (s) => h('button', {
    type: 'button', title: s.description, 'data-testid': 'shortcut-' + s.callback_id,
    onclick: async () => { $('shortcuts').open = false; told(await order('shortcut', { user: me().id, id: s.callback_id })); },
  }, s.name));
}

async function drawSide() {
  const open = state.inspect === '1';
  $('inspector').hidden = !open;
  document.body.classList.toggle('with-inspector', open);
  const data = await look('inspect');
  $('finding-count').hidden = data.findings.length === 0;
  $('finding-count').textContent = String(data.findings.length);
  if (open && !$('inspector').querySelector('details[open]')) drawInspector(data, page);
}

let busy = false;
let again = false;

// refresh fetches and draws; changes that come meanwhile make it run once more.
async function refresh() {
  if (busy) { again = true; return; }
  busy = true;
  try {
    do {
      again = false;
      const who = me() ? me().id : state.as || '';
      screen = await look('screen', { user: who, channel: state.channel || '' });
      screen.people.forEach((u, i) => { u.colour = i % 8; });
      if (!state.as && me()) { state.as = me().name; again = true; continue; }
      if (!here() && screen.channels.length) { state.channel = screen.channels[0].channel.name; again = true; continue; }
      draw();
      await drawSide();
    } while (again);
  } catch (err) {
    lost();
  }
  busy = false;
}

function draw() {
  if (!me()) return;
  drawTop();
  drawPersonas();
  drawSidebar();
  drawRoom();
  drawChaos(here(), (answer) => told(answer));
  drawClock(screen.clock, (answer) => told(answer));
  drawShortcuts();
  drawDemo(page, screen.demo);
  showView(screen.views[screen.views.length - 1], ctx, me().id, told);
  document.body.dataset.version = screen.version;
}

function lost() {
  $('lamp').className = 'lamp off';
  $('lamp').textContent = 'The local Slack is not running';
}

$('composer-box').append(composer({ label: 'Message, or / for commands', testid: 'composer', commands, send: (t) => send(t) }));
$('thread-composer').append(composer({ label: 'Reply', testid: 'thread-composer', commands: () => [], send: (t) => send(t, state.thread) }));
$('thread-close').addEventListener('click', () => go({ thread: '' }));
$('inspect').addEventListener('click', () => go({ inspect: state.inspect === '1' ? '' : '1' }));
document.addEventListener('click', (ev) => {
  for (const d of document.querySelectorAll('details.menu[open]')) if (!d.contains(ev.target)) d.open = false;
});
document.addEventListener('keydown', (ev) => {
  if (ev.key === 'Escape') for (const d of document.querySelectorAll('details.menu[open]')) d.open = false;
});
follow(refresh, lost);
