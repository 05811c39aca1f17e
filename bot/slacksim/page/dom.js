// Elements are made here and nowhere else, always as nodes: text that an app
// sends never becomes markup.
export function h(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props || {})) {
    if (v === undefined || v === null || v === false) continue;
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (k in e && !k.includes('-') && !['list', 'form', 'role'].includes(k)) e[k] = v;
    else e.setAttribute(k, v === true ? '' : v);
  }
  e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

export const $ = (id) => document.getElementById(id);

// link opens elsewhere, and only what the web uses: no javascript: addresses.
export function link(url, ...children) {
  if (!/^(https?:|mailto:|\/)/i.test(url)) return h('span', {}, ...children);
  return h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, ...children);
}

// keyed keeps the nodes of entries that did not change, so that focus, open
// menus and half-typed text survive an update.
export function keyed(parent, entries, draw) {
  const old = new Map([...parent.children].map((e) => [e.dataset.key, e]));
  let at = parent.firstElementChild;
  for (const { key, data } of entries) {
    const sum = JSON.stringify(data);
    let e = old.get(key);
    if (!e || e.sum !== sum) {
      const fresh = draw(data);
      fresh.dataset.key = key;
      fresh.sum = sum;
      if (e) {
        if (at === e) at = fresh;
        e.replaceWith(fresh);
      }
      e = fresh;
    }
    old.delete(key);
    if (e === at) at = at.nextElementSibling;
    else parent.insertBefore(e, at);
  }
  for (const e of old.values()) e.remove();
}
