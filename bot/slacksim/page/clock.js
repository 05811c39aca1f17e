// The workspace's clock, where it can be moved.
import { $, h } from './dom.js';
import { order } from './api.js';

const steps = [['1 minute', 60], ['5 minutes', 300], ['30 minutes', 1800], ['1 day', 86400]];
const speeds = [0, 1, 10, 60, 600];
let drawn = null;

export function drawClock(clock, done) {
  $('clock').hidden = !clock || !clock.moves;
  if (!clock || !clock.moves) return;
  const now = new Date(clock.now).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
  $('clock').querySelector('summary').title = now;
  const sum = JSON.stringify(clock.speed ?? null);
  if (sum === drawn) return;
  drawn = sum;
  $('clock-items').replaceChildren(
    h('h3', {}, 'Move ahead'),
    ...steps.map(([label, seconds]) => h('button', {
      type: 'button', 'data-testid': 'clock-' + seconds, onclick: async () => done(await order('clock/advance', { seconds })),
    }, '+ ' + label)),
    ...(clock.speed === undefined ? [] : [h('h3', {}, 'Speed'),
      ...speeds.map((speed) => h('button', {
        type: 'button', 'data-testid': 'speed-' + speed, 'aria-pressed': String(speed === clock.speed),
        onclick: async () => done(await order('clock/speed', { speed })),
      }, speed === 0 ? 'Stand still' : speed === 1 ? 'As usual' : speed + ' times as fast'))]));
}
