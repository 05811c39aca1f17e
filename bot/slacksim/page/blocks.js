// Block Kit as nodes. ctx knows names of people, channels and groups; its act
// is called with what a person pressed or chose, or is missing in a preview.
import { h, link } from './dom.js';
import { inline, markdown, mention, mrkdwn } from './mrkdwn.js';
import { emoji } from './emoji.js';

export function drawBlocks(blocks, ctx) {
  return h('div', { className: 'blocks' }, blocks.map((b) => drawBlock(b, ctx)));
}

export function drawBlock(b, ctx) {
  const draw = drawers[b.type];
  const e = draw ? draw(b, ctx) : h('div', { className: 'unknown' }, `${b.type} block`);
  if (b.block_id) e.dataset.blockId = b.block_id;
  e.classList.add('block', 'block-' + b.type);
  return e;
}

const drawers = {
  header: (b) => h('h3', {}, plain(b.text)),
  divider: () => h('hr'),
  section: (b, ctx) => h('div', {},
    h('div', { className: 'section-main' },
      b.text && h('div', { className: 'text' }, text(b.text, ctx)),
      b.fields && h('div', { className: 'fields' }, b.fields.map((f) => h('div', {}, text(f, ctx))))),
    b.accessory && h('div', { className: 'accessory' }, element(b, b.accessory, ctx))),
  context: (b, ctx) => h('div', {}, b.elements.map((e) => (e.type === 'image' ? image(e, 'tiny') : h('span', {}, text(e, ctx))))),
  actions: (b, ctx) => h('div', { role: 'group' }, b.elements.map((e) => element(b, e, ctx))),
  image: (b) => h('figure', {}, b.title && h('figcaption', {}, plain(b.title)), image(b, 'large')),
  rich_text: (b, ctx) => h('div', {}, b.elements.map((e) => rich(e, ctx))),
  markdown: (b) => h('div', {}, markdown(b.text)),
  table: (b, ctx) => h('div', { className: 'scroll' }, h('table', {}, h('tbody', {}, b.rows.map((r, i) => h('tr', {},
    r.map((c) => h(i ? 'td' : 'th', {}, c.type === 'rich_text' ? c.elements.map((e) => rich(e, ctx)) : String(c.text ?? '')))))))),
  input: (b, ctx) => input(b, ctx),
};

const plain = (t) => [...withEmoji(t.text)];

function* withEmoji(s) {
  let at = 0;
  for (const m of s.matchAll(/:([a-z0-9_+-]+):/g)) {
    if (!emoji(m[1])) continue;
    yield s.slice(at, m.index);
    yield h('span', { role: 'img', 'aria-label': m[1] }, emoji(m[1]));
    at = m.index + m[0].length;
  }
  yield s.slice(at);
}

export const text = (t, ctx) => (t.type === 'mrkdwn' ? mrkdwn(t.text, ctx) : plain(t));

// Images are not fetched from elsewhere; their description takes their place.
const image = (e, size) => h('span', { className: 'image ' + size, role: 'img', 'aria-label': e.alt_text, title: e.image_url },
  size === 'tiny' ? (e.alt_text || '?')[0] : e.alt_text);

function rich(e, ctx) {
  const parts = () => (e.elements || []).map((p) => richPart(p, ctx));
  switch (e.type) {
    case 'rich_text_preformatted': return h('pre', { className: 'code' }, diff(parts()));
    case 'rich_text_quote': return h('blockquote', {}, parts());
    case 'rich_text_list':
      return h(e.style === 'ordered' ? 'ol' : 'ul', { className: 'indent-' + (e.indent || 0) },
        e.elements.map((i) => h('li', {}, rich(i, ctx))));
    default: return h('div', { className: 'rich-section' }, parts());
  }
}

// Added and removed lines of a diff get a colour beside their sign.
function diff(parts) {
  if (!parts.every((p) => typeof p === 'string')) return parts;
  const rows = parts.join('').split('\n');
  if (!rows.some((r) => /^[+-]/.test(r))) return parts;
  return rows.map((r, i) => h('span', { className: r[0] === '+' ? 'added' : r[0] === '-' ? 'removed' : '' }, r + (i < rows.length - 1 ? '\n' : '')));
}

function richPart(p, ctx) {
  const style = p.style || {};
  const wrap = (node) => {
    for (const [k, tag] of [['code', 'code'], ['bold', 'strong'], ['italic', 'em'], ['strike', 's']]) {
      if (style[k]) node = h(tag, {}, node);
    }
    return node;
  };
  switch (p.type) {
    case 'text': return Object.keys(style).length ? wrap(breaks(p.text)) : breaks(p.text);
    case 'link': return wrap(link(p.url, p.text || p.url));
    case 'user': return mention('@' + ctx.user(p.user_id));
    case 'usergroup': return mention('@' + ctx.group(p.usergroup_id));
    case 'channel': return mention('#' + ctx.channel(p.channel_id));
    case 'broadcast': return mention('@' + p.range);
    case 'emoji': return h('span', { role: 'img', 'aria-label': p.name }, emoji(p.name) || `:${p.name}:`);
    case 'date': return h('time', {}, inline(`<!date^${p.timestamp}^${p.format}|${p.fallback || ''}>`, ctx));
    default: return p.text || p.fallback || '';
  }
}

const breaks = (t) => t;

// element draws what can be pressed or chosen outside of inputs.
function element(b, e, ctx) {
  const act = (choice) => ctx.act && ctx.act(b, e, choice);
  const mark = { 'data-action-id': e.action_id, 'data-testid': 'action' };
  switch (e.type) {
    case 'button': return button(e, mark, act, ctx);
    case 'image': return image(e, 'thumb');
    case 'overflow': return overflow(e, mark, act);
    case 'static_select': return select(e, mark, act);
    case 'external_select': case 'multi_external_select': return asking(b, e, mark, act, ctx);
    case 'multi_static_select': return several(e, options(e), mark, act);
    case 'users_select': return people(e, mark, act, ctx);
    case 'multi_users_select': return several(e, persons(ctx), mark, act);
    case 'conversations_select': case 'channels_select': return one(e, places(ctx), mark, act);
    case 'multi_conversations_select': case 'multi_channels_select': return several(e, places(ctx), mark, act);
    case 'timepicker': return h('input', { type: 'time', value: e.initial_time || '', ...mark, onchange: (ev) => act(ev.target.value) });
    case 'checkboxes': case 'radio_buttons': return choices(e, mark, act, ctx, b.block_id);
    case 'datepicker': return h('input', { type: 'date', value: e.initial_date || '', ...mark, onchange: (ev) => act(ev.target.value) });
    default: return h('span', { className: 'unknown' }, e.type);
  }
}

function button(e, mark, act, ctx) {
  const label = plain(e.text);
  const props = {
    ...mark, className: 'btn ' + (e.style || ''), 'aria-label': e.accessibility_label, disabled: !ctx.act,
    onclick: () => { if (e.url) window.open(e.url, '_blank', 'noopener'); act(''); },
  };
  return h('button', { type: 'button', ...props }, label, e.url && h('span', { className: 'out', 'aria-hidden': 'true' }, '↗'));
}

function overflow(e, mark, act) {
  const menu = h('details', { className: 'menu overflow', ...mark }, h('summary', { 'aria-label': 'More' }, '⋯'),
    h('div', { className: 'menu-items right' }, e.options.map((o) => h('button', {
      type: 'button', 'data-value': o.value, onclick: () => { menu.open = false; act(o.value); },
    }, plain(o.text)))));
  return menu;
}

const groups = (e) => e.option_groups || [{ options: e.options || [] }];

function select(e, mark, act) {
  const s = h('select', { ...mark, 'aria-label': e.placeholder ? e.placeholder.text : 'Choose', onchange: () => act(s.value) },
    h('option', { value: '', disabled: true }, e.placeholder ? e.placeholder.text : 'Choose an option'),
    groups(e).map((g) => {
      const options = g.options.map((o) => h('option', { value: o.value }, o.text.text));
      return g.label ? h('optgroup', { label: g.label.text }, options) : options;
    }));
  s.value = e.initial_option ? e.initial_option.value : '';
  return s;
}

function people(e, mark, act, ctx) {
  const s = h('select', { ...mark, 'aria-label': 'Choose a person', onchange: () => act(s.value) },
    h('option', { value: '', disabled: true }, e.placeholder ? e.placeholder.text : 'Choose a person'),
    (ctx.people ? ctx.people() : []).map((u) => h('option', { value: u.id }, u.real_name)));
  s.value = e.initial_user || '';
  return s;
}

const options = (e) => groups(e).flatMap((g) => g.options.map((o) => [o.value, o.text.text]));
const persons = (ctx) => (ctx.people ? ctx.people() : []).map((u) => [u.id, u.real_name]);
const places = (ctx) => (ctx.rooms ? ctx.rooms() : []).map((c) => [c.id, '#' + c.name]);

function one(e, list, mark, act) {
  const s = h('select', { ...mark, 'aria-label': e.placeholder ? e.placeholder.text : 'Choose', onchange: () => act(s.value) },
    h('option', { value: '' }, e.placeholder ? e.placeholder.text : 'Choose'), list.map(([value, label]) => h('option', { value }, label)));
  s.value = e.initial_conversation || e.initial_channel || '';
  return s;
}

function several(e, list, mark, act) {
  const initial = new Set((e.initial_options || []).map((o) => o.value).concat(e.initial_users || [], e.initial_conversations || [], e.initial_channels || []));
  const s = h('select', {
    ...mark, multiple: true, size: Math.min(Math.max(list.length, 2), 6), 'aria-label': e.placeholder ? e.placeholder.text : 'Choose',
    onchange: () => act([...s.selectedOptions].map((o) => o.value).join(',')),
  }, list.map(([value, label]) => h('option', { value, selected: initial.has(value) }, label)));
  return s;
}

// asking is a select whose options the app gives for what was typed.
function asking(b, e, mark, act, ctx) {
  const s = h('select', { ...mark, multiple: e.type.startsWith('multi_'), 'aria-label': 'What the app offers', onchange: () => act([...s.selectedOptions].map((o) => o.value).join(',')) });
  const least = e.min_query_length ?? 3;
  const status = h('small', { className: 'hint', role: 'status' }, least ? `Type at least ${least} characters` : '');
  const ask = async (typed) => {
    if (typed.length < least || !ctx.suggest) return;
    const answer = await ctx.suggest(b, e, typed, ctx.at || {});
    const found = answer.ok ? answer.result : [];
    status.textContent = answer.ok ? (found.length ? `${found.length} found` : 'No results') : answer.error;
    s.replaceChildren(...(e.type.startsWith('multi_') ? [] : [h('option', { value: '' }, 'Choose')]), ...found.map((o) => h('option', { value: o.value }, o.text)));
  };
  const typed = h('input', {
    type: 'search', className: 'ask', 'data-testid': 'ask', placeholder: e.placeholder ? e.placeholder.text : 'Search', 'aria-label': 'Search',
    oninput: () => ask(typed.value), disabled: !ctx.suggest,
  });
  if (e.initial_option) s.append(h('option', { value: e.initial_option.value, selected: true }, e.initial_option.text.text));
  return h('span', { className: 'asking' }, typed, s, status);
}

// moment is a date and a time; its value is seconds since 1970.
function moment(e, props) {
  const local = (s) => { const d = new Date(s * 1000); return new Date(d - d.getTimezoneOffset() * 60_000).toISOString().slice(0, 16); };
  return h('input', { ...props, type: 'datetime-local', 'data-moment': '1', value: e.initial_date_time ? local(e.initial_date_time) : '' });
}

function choices(e, mark, act, ctx, name) {
  const several = e.type === 'checkboxes';
  const initial = new Set((several ? e.initial_options || [] : [e.initial_option]).filter(Boolean).map((o) => o.value));
  const box = h('div', { className: 'choices', role: several ? 'group' : 'radiogroup', ...mark });
  const changed = () => act([...box.querySelectorAll('input:checked')].map((i) => i.value).join(','));
  box.append(...e.options.map((o) => h('label', {},
    h('input', { type: several ? 'checkbox' : 'radio', name: name + e.action_id, value: o.value, checked: initial.has(o.value), onchange: changed }),
    h('span', {}, text(o.text, ctx), o.description && h('small', {}, text(o.description, ctx))))));
  return box;
}

// input draws an input block. Its value is read from the form by block id.
function input(b, ctx) {
  const e = b.element;
  const id = 'input-' + b.block_id;
  const control = field(b, e, id, ctx);
  return h('div', { 'data-input': b.block_id, 'data-kind': e.type },
    h('label', { htmlFor: id }, plain(b.label), b.optional && h('span', { className: 'optional' }, ' (optional)')),
    control,
    h('p', { className: 'error', id: id + '-error', role: 'alert', hidden: true }),
    b.hint && h('p', { className: 'hint', id: id + '-hint' }, plain(b.hint)));
}

function field(b, e, id, ctx) {
  const props = { id, 'data-action-id': e.action_id, 'aria-describedby': id + '-error ' + id + '-hint', required: !b.optional };
  const placeholder = e.placeholder ? e.placeholder.text : '';
  const none = () => {};
  switch (e.type) {
    case 'plain_text_input': {
      const size = { maxLength: e.max_length || 3000, value: e.initial_value || '', placeholder };
      return e.multiline ? h('textarea', { ...props, rows: 4, ...size }) : h('input', { ...props, type: 'text', ...size });
    }
    case 'static_select': return h('div', { className: 'wide' }, Object.assign(select(e, {}, none), { id }));
    case 'external_select': case 'multi_external_select': return h('div', { className: 'wide' }, asking(b, e, { id }, none, ctx));
    case 'multi_static_select': return h('div', { className: 'wide' }, several(e, options(e), { id }, none));
    case 'multi_users_select': return h('div', { className: 'wide' }, several(e, persons(ctx), { id }, none));
    case 'conversations_select': case 'channels_select': return h('div', { className: 'wide' }, one(e, places(ctx), { id }, none));
    case 'multi_conversations_select': case 'multi_channels_select': return h('div', { className: 'wide' }, several(e, places(ctx), { id }, none));
    case 'datetimepicker': return moment(e, props);
    case 'rich_text_input': return h('textarea', { ...props, rows: 4, placeholder });
    case 'users_select': return h('div', { className: 'wide' }, Object.assign(people(e, {}, none, ctx), { id }));
    case 'checkboxes': case 'radio_buttons': return choices(e, { id }, none, ctx, b.block_id);
    case 'datepicker': return h('input', { ...props, type: 'date', value: e.initial_date || '' });
    case 'timepicker': return h('input', { ...props, type: 'time', value: e.initial_time || '' });
    case 'number_input': return h('input', { ...props, type: 'text', inputMode: 'decimal', value: e.initial_value || '' });
    case 'email_text_input': return h('input', { ...props, type: 'email', value: e.initial_value || '' });
    case 'url_text_input': return h('input', { ...props, type: 'url', value: e.initial_value || '' });
    default: return h('span', { className: 'unknown', id }, e.type);
  }
}

// values reads every input of a form, by block id.
export function values(form) {
  const out = {};
  for (const box of form.querySelectorAll('[data-input]')) {
    const checked = [...box.querySelectorAll('input[type=checkbox],input[type=radio]')];
    const single = box.querySelector('textarea, select, input:not([type=checkbox]):not([type=radio])');
    const many = box.querySelector('select[multiple]');
    const pick = box.querySelector('.asking select');
    if (many) {
      out[box.dataset.input] = [...many.selectedOptions].map((o) => o.value).join(',');
      continue;
    }
    if (pick) { out[box.dataset.input] = pick.value; continue; }
    if (single && single.dataset.moment) {
      out[box.dataset.input] = single.value ? String(Math.floor(new Date(single.value) / 1000)) : '';
      continue;
    }
    out[box.dataset.input] = checked.length ? checked.filter((i) => i.checked).map((i) => i.value).join(',') : single ? single.value : '';
  }
  return out;
}

// restore puts values back into a form that was drawn anew.
export function restore(form, saved) {
  for (const box of form.querySelectorAll('[data-input]')) {
    const value = saved[box.dataset.input];
    if (value === undefined || value === '') continue;
    const single = box.querySelector('textarea, select, input:not([type=checkbox]):not([type=radio])');
    if (single) single.value = value;
    for (const i of box.querySelectorAll('input[type=checkbox],input[type=radio]')) i.checked = value.split(',').includes(i.value);
  }
}
