// Modals, confirm dialogs and earlier versions of messages.
import { $, h } from './dom.js';
import { drawBlocks, restore, text, values } from './blocks.js';
import { look, order } from './api.js';

// ask shows a button's confirm dialog and resolves to the answer.
export function ask(confirm, ctx) {
  const d = $('confirm');
  return new Promise((resolve) => {
    const end = (answer) => { d.close(); resolve(answer); };
    d.replaceChildren(
      h('header', {}, h('h2', {}, confirm.title.text)),
      h('div', { className: 'modal-body' }, h('p', {}, text(confirm.text, ctx))),
      h('footer', {},
        h('button', { className: 'btn', 'data-testid': 'confirm-no', onclick: () => end(false) }, confirm.deny ? confirm.deny.text : 'Cancel'),
        h('button', {
          className: 'btn ' + (confirm.style || 'primary'), 'data-testid': 'confirm-yes', autofocus: true, onclick: () => end(true),
        }, confirm.confirm ? confirm.confirm.text : 'Yes')));
    d.oncancel = () => resolve(false);
    d.showModal();
  });
}

let shown = { id: '', hash: '' };

// showView keeps the modal dialog in step with the view a person has open.
export function showView(view, ctx, user, failed) {
  const d = $('modal');
  if (!view) {
    if (d.open) d.close();
    shown = { id: '', hash: '' };
    return;
  }
  if (shown.id !== view.id || shown.hash !== view.hash || shown.user !== user) drawView(d, view, ctx, user, failed);
  showErrors(d, view.errors || {});
  if (!d.open) d.showModal();
}

function drawView(d, view, ctx, user, failed) {
  const saved = shown.id === view.id ? values(d) : {};
  shown = { id: view.id, hash: view.hash, user };
  const close = () => order('close', { user, view: view.id }).then(failed);
  const inView = { ...ctx, at: { view: view.id }, act: (b, e, choice) => ctx.actInView(view, b, e, choice) };
  const submit = h('button', { className: 'btn primary', type: 'submit', 'data-testid': 'modal-submit' }, view.submit || 'Submit');
  const form = h('form', {
    noValidate: true,
    onsubmit: async (ev) => {
      ev.preventDefault();
      submit.disabled = true;
      form.setAttribute('aria-busy', 'true');
      failed(await order('submit', { user, view: view.id, values: values(form) }), 'modal');
      submit.disabled = false;
      form.removeAttribute('aria-busy');
    },
  },
  h('header', {}, h('h2', { id: 'modal-title' }, view.title),
    h('button', { type: 'button', className: 'quiet', 'aria-label': 'Close', 'data-testid': 'modal-x', onclick: close }, '✕')),
  h('div', { className: 'modal-body' }, drawBlocks(view.blocks || [], inView)),
  h('p', { id: 'modal-alert', className: 'modal-alert', role: 'alert' }),
  h('footer', {},
    h('button', { type: 'button', className: 'btn', 'data-testid': 'modal-close', onclick: close }, view.close || 'Cancel'),
    view.submit && submit));
  d.replaceChildren(form);
  d.oncancel = (ev) => { ev.preventDefault(); close(); };
  restore(form, saved);
}

function showErrors(d, errors) {
  for (const box of d.querySelectorAll('[data-input]')) {
    const message = errors[box.dataset.input] || '';
    const line = box.querySelector('.error');
    line.textContent = message;
    line.hidden = !message;
    box.classList.toggle('invalid', Boolean(message));
  }
}

// showVersions lists what a message said before. Its buttons still work there:
// a client that has not seen the edit sends such late clicks.
export async function showVersions(message, ctx, act) {
  const d = $('versions');
  const all = await look('versions', { channel: message.channel, ts: message.ts });
  d.replaceChildren(
    h('header', {}, h('h2', {}, `${all.length} versions`),
      h('button', { className: 'quiet', 'aria-label': 'Close', autofocus: true, onclick: () => d.close() }, '✕')),
    h('div', { className: 'modal-body' },
      h('p', { className: 'hint' }, 'Buttons here act on the earlier version, as a client does that has not yet seen the edit.'),
      all.map((m, i) => h('section', { className: 'version', 'data-testid': 'version-' + (i + 1) },
        h('h3', {}, i === all.length - 1 ? 'Now' : `Version ${i + 1}`),
        m.blocks ? drawBlocks(m.blocks, { ...ctx, act: (b, e, c) => act(m, b, e, c, i + 1) }) : h('p', {}, m.text)))));
  d.showModal();
}
