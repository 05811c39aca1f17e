// Messages as a list.
import { h, link } from './dom.js';
import { drawBlocks } from './blocks.js';
import { mrkdwn } from './mrkdwn.js';

export function avatar(user) {
  const name = user ? user.real_name || user.name : '?';
  const initials = name.split(/[\s.-]+/).slice(0, 2).map((w) => w[0] || '').join('').toUpperCase();
  const colour = user ? user.colour || 0 : 0;
  return h('span', { className: `avatar c${colour}${user && user.is_bot ? ' bot' : ''}`, 'aria-hidden': 'true' }, initials);
}

export function when(ts) {
  const d = new Date(Number(ts.split('.')[0]) * 1000);
  return h('time', { dateTime: d.toISOString(), title: d.toLocaleString('en-GB') },
    d.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' }));
}

// drawMessage draws one message; page has what can be done with it.
export function drawMessage(m, page, inThread) {
  const user = page.person(m.user);
  const ctx = { ...page.ctx, at: { channel: m.channel, ts: m.ts }, act: (b, e, choice) => page.act(m, b, e, choice) };
  return h('li', {
    className: 'message' + (m.is_ephemeral ? ' ephemeral' : '') + (m.subtype === 'channel_topic' ? ' system' : ''),
    'data-testid': 'message', 'data-ts': m.ts, id: (inThread ? 'r' : 'm') + m.ts,
  },
  avatar(user),
  h('div', { className: 'message-main' },
    m.is_ephemeral && h('p', { className: 'only-you' }, 'Only visible to you'),
    h('p', { className: 'message-head' },
      h('strong', {}, user ? user.name : m.user), user && user.is_bot && h('span', { className: 'badge app' }, 'APP'),
      user && user.role && !user.is_bot && h('span', { className: 'role' }, user.role), when(m.ts)),
    body(m, ctx, page),
    m.edited && !(m.blocks && m.blocks.length) && h('span', { className: 'edited', 'data-testid': 'edited' }, '(edited)'),
    (m.files || []).map((f) => file(f, page)),
    m.reactions && h('p', { className: 'reactions' }, m.reactions.map((r) => h('span', {}, `:${r.name}: ${r.users.length}`))),
    !inThread && m.reply_count > 0 && h('button', {
      className: 'replies', type: 'button', 'data-testid': 'open-thread', onclick: () => page.openThread(m.ts),
    }, `${m.reply_count} ${m.reply_count === 1 ? 'reply' : 'replies'}`, h('span', {}, ' last at ', when(m.latest_reply)))),
  tools(m, page, inThread));
}

function body(m, ctx, page) {
  if (page.textOnly()) return h('div', { className: 'text push' }, m.text || 'no text: a notification would be empty');
  const main = m.blocks && m.blocks.length ? drawBlocks(m.blocks, ctx) : m.text && h('div', { className: 'text' }, mrkdwn(m.text, ctx));
  return [main, (m.attachments || []).map((a) => attachment(a, ctx))];
}

// attachment draws a secondary attachment: a bar at its side, in its colour.
function attachment(a, ctx) {
  const e = h('div', { className: 'attachment', 'data-testid': 'attachment' },
    a.pretext && h('p', {}, mrkdwn(a.pretext, ctx)),
    a.author_name && h('p', { className: 'author' }, a.author_name),
    a.title && h('p', { className: 'attachment-title' }, a.title_link ? link(a.title_link, a.title) : a.title),
    a.text && h('div', { className: 'text' }, mrkdwn(a.text, ctx)),
    a.fields && h('div', { className: 'fields' }, a.fields.map((f) => h('div', {}, h('strong', {}, f.title), h('p', {}, mrkdwn(f.value || '', ctx))))),
    a.blocks && drawBlocks(a.blocks, ctx),
    a.footer && h('small', {}, a.footer));
  if (/^[0-9a-f]{6}$/i.test(a.color || '')) e.style.borderColor = '#' + a.color;
  if (['good', 'warning', 'danger'].includes(a.color)) e.classList.add(a.color);
  return e;
}

function file(f, page) {
  return h('button', { className: 'file', type: 'button', 'data-testid': 'file-open', onclick: () => page.file(f) },
    h('strong', {}, f.title || f.name), h('span', {}, `${f.filetype || 'file'}, ${f.size} bytes`));
}

function tools(m, page, inThread) {
  if (m.is_ephemeral) return null;
  return h('div', { className: 'message-tools', role: 'toolbar', 'aria-label': 'Message actions' },
    m.versions > 1 && h('button', { type: 'button', 'data-testid': 'versions-open', onclick: () => page.versions(m) }, `${m.versions} versions`),
    !inThread && h('button', { type: 'button', 'data-testid': 'reply', onclick: () => page.openThread(m.ts) }, 'Reply in thread'),
    page.shortcuts().map((s) => h('button', { type: 'button', 'data-testid': 'shortcut-' + s.callback_id, onclick: () => page.shortcut(m, s) }, s.name)));
}
