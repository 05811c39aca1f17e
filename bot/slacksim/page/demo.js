// A scripted demo, a step at a time. The address holds the step, so that a link
// leads to it.
import { $, h } from './dom.js';
import { look, order } from './api.js';

let steps = null;
let busy = false;

export async function drawDemo(page, count) {
  const at = page.demoStep();
  $('demo').hidden = !count || at === null;
  if ($('demo').hidden) return;
  if (!steps) steps = await look('demo');
  const step = steps[at];
  const next = h('button', { className: 'btn primary', type: 'button', 'data-testid': 'demo-next', disabled: busy, onclick: () => play(page, at) },
    step ? (at === 0 ? 'Start' : 'Next') : 'Close');
  $('demo').replaceChildren(
    h('p', { 'data-testid': 'demo-say' }, step ? step.say : 'That was all.'),
    h('span', { className: 'hint' }, step ? `Step ${at + 1} of ${steps.length}` : ''), next);
}

async function play(page, at) {
  const step = steps[at];
  if (!step) { page.go({ demo: '' }); return; }
  busy = true;
  try {
    page.go({ ...(step.as && { as: step.as }), ...(step.channel && { channel: step.channel, thread: '', message: '' }) });
    if (step.order) page.told(await order(step.order, step.body || {}));
    if (step.wait) await look('wait', step.wait);
  } finally {
    busy = false;
    page.go({ demo: String(at + 2) });
  }
}
