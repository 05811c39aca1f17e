// What goes on between the workspace and the app.
import { $, h } from './dom.js';

const ms = (ns) => (ns ? (ns / 1e6).toFixed(ns < 1e7 ? 1 : 0) + ' ms' : '');
const clock = (t) => new Date(t).toLocaleTimeString('en-GB');
let tab = 'envelopes';
let drawn = null;

export function drawInspector(data, page) {
  const sum = JSON.stringify([tab, data, page.textOnly()]);
  if (sum === drawn && $('inspector').firstChild) return;
  drawn = sum;
  const counts = { envelopes: data.envelopes.length, calls: data.calls.length, findings: data.findings.length, connections: data.connections.length };
  const names = { envelopes: 'Envelopes', calls: 'API calls', findings: 'Findings', connections: 'Sockets' };
  const tabs = h('div', { role: 'tablist', className: 'tabs' }, Object.keys(names).map((k) => h('button', {
    role: 'tab', type: 'button', 'aria-selected': String(k === tab), 'data-testid': 'tab-' + k, onclick: () => { tab = k; drawInspector(data, page); },
  }, names[k], h('span', { className: 'count' + (k === 'findings' && counts[k] ? ' bad' : '') }, String(counts[k])))));
  const m = data.metrics;
  $('inspector').replaceChildren(
    h('header', { className: 'room-head' }, h('h2', {}, 'Inspector'),
      h('label', { className: 'smart' }, h('input', { type: 'checkbox', checked: page.textOnly(), onchange: (ev) => page.setTextOnly(ev.target.checked) }), 'show notification text')),
    h('p', { className: 'summary' }, `${m.acked} acknowledged, median ${ms(m.ack_median) || '–'}, slowest ${ms(m.ack_max) || '–'}; ${m.unacked} not in time; ${m.rate_limited} calls refused`),
    tabs, h('div', { role: 'tabpanel', className: 'panel' }, panels[tab](data)));
}

const state = (e) => h('span', { className: 'state ' + e.state }, e.state === 'acked' ? ms(e.latency) : e.state.replace('_', ' '));

const panels = {
  envelopes: (d) => rows(d.envelopes.toReversed(), 'Nothing was sent to the app yet.', (e) => h('details', { 'data-testid': 'envelope' },
    h('summary', {}, h('span', { className: 'what' }, e.what), state(e), h('small', {}, `${clock(e.sent)} · ${e.type} · socket ${e.socket || 'none'}${e.retry_attempt ? ' · retry ' + e.retry_attempt : ''}`)),
    h('pre', { className: 'code' }, JSON.stringify(e.payload, null, 1)), e.answer && h('pre', { className: 'code' }, 'answer ' + JSON.stringify(e.answer, null, 1)))),
  calls: (d) => rows(d.calls.toReversed(), 'The app has called nothing yet.', (c) => h('details', { 'data-testid': 'call' },
    h('summary', {}, h('span', { className: 'what' }, c.method), h('span', { className: 'state ' + (c.error ? 'unacked' : 'acked') }, c.error || (c.status === 200 ? 'ok' : String(c.status))),
      h('small', {}, `${clock(c.at)} · ${ms(c.took)}`)), h('pre', { className: 'code' }, JSON.stringify(c.args || {}, null, 1)))),
  findings: (d) => rows(d.findings.toReversed(), 'Nothing to object to.', (f) => h('div', { className: 'finding', 'data-testid': 'finding' },
    h('strong', {}, f.rule), h('p', {}, f.detail), h('small', {}, clock(f.at)))),
  connections: (d) => rows(d.connections, 'The app has no socket open.', (c) => h('div', { className: 'finding' },
    h('strong', {}, 'Socket ' + c.id + (c.spoiled ? ', spoiled' : '')), h('p', {}, `since ${clock(c.since)}, ${c.envelopes} envelopes`))),
};

const rows = (list, none, draw) => (list.length ? list.map(draw) : h('p', { className: 'none' }, none));
