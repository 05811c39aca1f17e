// The box in which a person types, with hints for slash commands.
import { h } from './dom.js';

// smart does what phones and desktops do to typed text.
const smart = (t) => t.replace(/(^|[\s(])"/g, '$1“').replace(/"/g, '”').replace(/(^|\s)'/g, '$1‘').replace(/'/g, '’').replace(/--/g, '—');

export function composer({ label, testid, commands, send }) {
  const hints = h('ul', { className: 'hints', hidden: true, role: 'listbox', 'aria-label': 'Commands' });
  let shift = false;
  const quotes = h('input', { type: 'checkbox', id: testid + '-smart' });
  const box = h('textarea', {
    id: testid === 'composer' ? 'composer' : undefined, rows: 1, 'data-testid': testid, 'aria-label': label, placeholder: label,
    autocomplete: 'off', spellcheck: false,
    oninput: () => { grow(); hint(); },
    onbeforeinput: (ev) => { if (ev.inputType === 'insertLineBreak' && !shift) ev.preventDefault(); },
    onkeydown: (ev) => {
      shift = ev.shiftKey;
      if (ev.key === 'Enter' && !ev.shiftKey && !ev.isComposing) { ev.preventDefault(); go(); }
      if (ev.key === 'Tab' && !hints.hidden && hints.firstChild) { ev.preventDefault(); hints.firstChild.click(); }
      if (ev.key === 'Escape') hints.hidden = true;
    },
  });
  const grow = () => { box.style.height = 'auto'; box.style.height = Math.min(box.scrollHeight, 160) + 'px'; };
  const hint = () => {
    const typed = box.value.split(' ')[0];
    const found = box.value.startsWith('/') ? commands().filter((c) => c.command.startsWith(typed)) : [];
    hints.replaceChildren(...found.map((c) => h('li', {
      role: 'option', onclick: () => { if (!box.value.startsWith(c.command)) box.value = c.command + ' '; hints.hidden = true; box.focus(); },
    }, h('strong', {}, c.command), ' ', h('code', {}, c.usage_hint), h('span', {}, c.description))));
    hints.hidden = found.length === 0;
  };
  const go = async () => {
    const typed = box.value.trim();
    if (!typed) return;
    box.value = '';
    hints.hidden = true;
    grow();
    await send(quotes.checked ? smart(typed) : typed);
  };
  return h('form', { className: 'composer', onsubmit: (ev) => { ev.preventDefault(); go(); } },
    hints, box,
    h('div', { className: 'composer-foot' },
      h('label', { className: 'smart', htmlFor: testid + '-smart', title: 'Turn quotes and dashes into typographic ones, as phones do' }, quotes, 'smart punctuation'),
      h('button', { type: 'submit', className: 'btn primary', 'data-testid': testid + '-send' }, 'Send')));
}
