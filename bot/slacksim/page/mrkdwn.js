// Slack's mrkdwn, and the markdown block, as nodes.
// https://docs.slack.dev/messaging/formatting-message-text
import { h, link } from './dom.js';
import { emoji } from './emoji.js';

export const unescape = (t) => t.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');

export function mrkdwn(text, ctx) {
  const out = document.createDocumentFragment();
  text.split(/```\n?/).forEach((part, i) => {
    if (i % 2) out.append(h('pre', { className: 'code' }, unescape(part.replace(/\n$/, ''))));
    else out.append(...lines(part, ctx));
  });
  return out;
}

function lines(text, ctx) {
  const out = [];
  let quote = null;
  const all = text.split('\n');
  all.forEach((line, i) => {
    const quoted = line.match(/^(?:>|&gt;) ?(.*)$/);
    if (quoted) {
      if (!quote) out.push((quote = h('blockquote')));
      else quote.append(h('br'));
      quote.append(...inline(quoted[1], ctx));
      return;
    }
    const afterQuote = quote !== null;
    quote = null;
    if (i > 0 && !afterQuote) out.push(h('br'));
    out.push(...inline(line, ctx));
  });
  return out;
}

const spans = [
  [/^\*(\S|\S[^*]*\S)\*(?!\w)/, 'strong'],
  [/^_(\S|\S[^_]*\S)_(?!\w)/, 'em'],
  [/^~(\S|\S[^~]*\S)~(?!\w)/, 's'],
];

export function inline(text, ctx) {
  const out = [];
  let plain = '';
  const flush = () => { if (plain) out.push(unescape(plain)); plain = ''; };
  for (let i = 0; i < text.length;) {
    const rest = text.slice(i);
    const free = i === 0 || !/\w/.test(text[i - 1]);
    const named = rest.match(/^:([a-z0-9_+-]+):/);
    let m;
    if ((m = rest.match(/^<([^<>\n]+)>/))) {
      flush();
      out.push(token(m[1], ctx));
    } else if ((m = rest.match(/^`([^`\n]+)`/))) {
      flush();
      out.push(h('code', {}, unescape(m[1])));
    } else if (named && emoji(named[1])) {
      m = named;
      flush();
      out.push(h('span', { role: 'img', 'aria-label': m[1] }, emoji(m[1])));
    } else if (free && (m = rest.match(/^https?:\/\/[^\s<>|]*[^\s<>|.,;:!?)]/))) {
      flush();
      out.push(link(unescape(m[0]), unescape(m[0])));
    } else if (free) {
      for (const [re, tag] of spans) {
        if ((m = rest.match(re))) {
          flush();
          out.push(h(tag, {}, inline(m[1], ctx)));
          break;
        }
      }
    }
    if (m) i += m[0].length;
    else { plain += text[i]; i++; }
  }
  flush();
  return out;
}

function token(body, ctx) {
  const [target, label] = body.split('|');
  if (target[0] === '@') return mention('@' + ctx.user(target.slice(1)));
  if (target[0] === '#') return mention('#' + ctx.channel(target.slice(1), label));
  if (target.startsWith('!subteam^')) return mention('@' + ctx.group(target.slice(9)));
  if (target.startsWith('!date^')) return h('time', {}, date(target, label));
  if (target[0] === '!') return mention('@' + target.slice(1));
  return link(unescape(target), unescape(label || target));
}

export const mention = (text) => h('span', { className: 'mention' }, text);

// date draws <!date^seconds^format^link|fallback>.
function date(target, fallback) {
  const [, seconds, format] = target.split('^');
  const d = new Date(Number(seconds) * 1000);
  if (isNaN(d) || !format) return fallback || '';
  const day = (o) => d.toLocaleDateString('en-GB', o);
  const time = (o) => d.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', ...o });
  const parts = {
    date_num: () => d.toISOString().slice(0, 10), date: () => day({ day: 'numeric', month: 'long', year: 'numeric' }),
    date_short: () => day({ day: 'numeric', month: 'short', year: 'numeric' }),
    date_long: () => day({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }),
    date_pretty: () => pretty(d, day), date_short_pretty: () => pretty(d, day), date_long_pretty: () => pretty(d, day),
    time: () => time(), time_secs: () => time({ second: '2-digit' }), ago: () => ago(d),
  };
  return format.replace(/\{(\w+)\}/g, (all, name) => (parts[name] ? parts[name]() : all));
}

function pretty(d, day) {
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(d).setHours(0, 0, 0, 0)) / 864e5);
  return days === 0 ? 'today' : days === 1 ? 'yesterday' : day({ day: 'numeric', month: 'long' });
}

function ago(d) {
  const min = Math.round((Date.now() - d) / 60000);
  if (min < 1) return 'just now';
  return min < 60 ? `${min} min ago` : `${Math.round(min / 60)} h ago`;
}

// markdown draws the markdown block: standard Markdown, as far as apps use it.
export function markdown(text) {
  const out = h('div', { className: 'markdown' });
  text.split(/^```.*\n?/m).forEach((part, i) => {
    if (i % 2) out.append(h('pre', { className: 'code' }, part.replace(/\n$/, '')));
    else for (const para of part.split(/\n{2,}/)) if (para.trim()) out.append(paragraph(para.trim()));
  });
  return out;
}

function paragraph(text) {
  const rows = text.split('\n');
  const head = text.match(/^(#{1,6}) (.*)$/);
  if (head) return h('h' + Math.min(6, head[1].length + 2), {}, md(head[2]));
  const items = (re, tag) => h(tag, {}, rows.map((r) => h('li', {}, md(r.replace(re, '')))));
  if (rows.every((r) => /^[-*] /.test(r))) return items(/^[-*] /, 'ul');
  if (rows.every((r) => /^\d+\. /.test(r))) return items(/^\d+\. /, 'ol');
  if (rows.every((r) => /^> ?/.test(r))) return h('blockquote', {}, md(rows.map((r) => r.replace(/^> ?/, '')).join('\n')));
  return h('p', {}, rows.flatMap((r, i) => (i ? [h('br'), ...md(r)] : md(r))));
}

function md(text) {
  const out = [];
  const re = /`([^`]+)`|\[([^\]]+)\]\((https?:[^)\s]+)\)|\*\*([^*]+)\*\*|[*_]([^*_]+)[*_]|~~([^~]+)~~/g;
  let at = 0;
  for (const m of text.matchAll(re)) {
    out.push(text.slice(at, m.index));
    if (m[1]) out.push(h('code', {}, m[1]));
    else if (m[2]) out.push(link(m[3], m[2]));
    else if (m[4]) out.push(h('strong', {}, md(m[4])));
    else if (m[5]) out.push(h('em', {}, m[5]));
    else out.push(h('s', {}, m[6]));
    at = m.index + m[0].length;
  }
  out.push(text.slice(at));
  return out;
}
