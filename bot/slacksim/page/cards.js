// Cards without an app, one below the other.
import { $, h } from './dom.js';
import { drawBlocks } from './blocks.js';
import { mrkdwn } from './mrkdwn.js';

const context = (names) => {
  const name = (id, label) => (names || {})[id] || label || id;
  return { user: name, channel: name, group: name, act: () => {} };
};

const cards = await (await fetch('/cards.json')).json();
$('cards').replaceChildren(...cards.map((c) => h('article', { id: c.name, 'data-testid': 'card' },
  h('h2', {}, h('a', { href: '#' + c.name }, c.name)),
  h('div', { className: 'message' }, h('span', { className: 'avatar bot c3', 'aria-hidden': 'true' }, 'R'),
    h('div', { className: 'message-main' }, c.blocks.length ? drawBlocks(c.blocks, context(c.names)) : h('div', { className: 'text' }, mrkdwn(c.text, context(c.names))))),
  c.blocks.length > 0 && h('p', { className: 'push' }, c.text || 'no text: a notification would be empty'),
  c.faults.map((f) => h('p', { className: 'error' }, f)))));
