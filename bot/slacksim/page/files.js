// Uploaded files, read on the page.
import { $, h } from './dom.js';

const most = 200_000; // characters that are shown

export async function showFile(f, team) {
  const d = $('file');
  const address = `/files-pri/${team}-${f.id}/${encodeURIComponent(f.name)}`;
  const answer = await fetch(address);
  const text = answer.ok ? await answer.text() : 'This file is gone.';
  const lines = text.slice(0, most).split('\n');
  d.replaceChildren(
    h('header', {}, h('h2', {}, f.title || f.name),
      h('a', { className: 'btn', href: address, download: f.name, 'data-testid': 'file-download' }, 'Download'),
      h('button', { className: 'quiet', type: 'button', 'aria-label': 'Close', autofocus: true, onclick: () => d.close() }, '✕')),
    h('div', { className: 'modal-body' },
      h('pre', { className: 'code', 'data-testid': 'file-text', tabIndex: 0 }, lines.map((l, i) => h('span', { className: kind(l) }, l + (i < lines.length - 1 ? '\n' : '')))),
      text.length > most && h('p', { className: 'hint' }, `${most.toLocaleString('en-GB')} of ${text.length.toLocaleString('en-GB')} characters are shown.`)));
  d.showModal();
}

function kind(line) {
  if (/^(\+\+\+|---|@@|diff |index )/.test(line)) return 'meta';
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : '';
}
