// Trouble that a person can make.
import { $, h } from './dom.js';
import { order } from './api.js';

let drawn = null;

// drawChaos leaves the menu alone while nothing in it changes: a button that
// is replaced between press and release is never clicked.
export function drawChaos(channel, done) {
  const sum = JSON.stringify(channel);
  if (sum === drawn) return;
  drawn = sum;
  const groups = [
    ['Sockets', [
      ['Lose the network', 'disconnect', { how: 'reset' }],
      ['Ask for a new connection', 'disconnect', { how: 'refresh_requested' }],
      ['Warn, then close in 10 s', 'disconnect', { how: 'warning' }],
      ['Silent death: open, but dead', 'disconnect', { how: 'silent' }],
      ['Pings only, nothing else', 'disconnect', { how: 'mute' }],
      ['No pings any more', 'disconnect', { how: 'no_pings' }],
      ['A storm: the next five end at once', 'storm', { count: 5 }],
      ['A frame that is no JSON', 'disconnect', { how: 'garbage' }],
      ['Switch Socket Mode off', 'disconnect', { how: 'link_disabled' }],
      ['Switch Socket Mode on', 'link/on', {}],
    ]],
    ['Web API', [
      ['Refuse the next 5 calls (429)', 'faults', { rule: { status: 429, retry_after: 2, times: 5 } }],
      ['Fail the next 3 calls (503)', 'faults', { rule: { status: 503, body: '<html>503</html>', times: 3 } }],
      ['Answer 2 s later', 'faults', { rule: { delay: 2e9 } }],
      ['Post, then lose the answer, once', 'faults', { rule: { method: 'chat.postMessage', drop_answer: true, times: 1 } }],
      ['Deliver every click twice', 'faults', { rule: { envelope: 'interactive', twice: true } }],
      ['Lose the next "only visible to you"', 'faults', { rule: { method: 'chat.postEphemeral', lose: true, times: 1 } }],
      ['Cut the next answer in half', 'faults', { rule: { truncate: true, times: 1 } }],
      ['Deliver clicks 4 s late', 'faults', { rule: { envelope: 'interactive', delay: 4e9 } }],
      ['All is well again', 'faults/clear', {}],
    ]],
    ['The app', [
      ['Revoke the bot\'s token', 'revoke', { name: 'bot', on: true }],
      ['Give it back', 'revoke', { name: 'bot', on: false }],
      ['Take the app out of the workspace', 'uninstall', { on: true }],
      ['Install it again', 'uninstall', { on: false }],
    ]],
    ['This channel', channel ? [
      [channel.is_ext_shared ? 'Stop sharing it' : 'Share it with another organisation', 'share', { channel: channel.id, on: !channel.is_ext_shared }],
      [channel.is_archived ? 'Open it again' : 'Archive it', 'archive', { channel: channel.id, on: !channel.is_archived }],
    ] : []],
  ];
  $('chaos-items').replaceChildren(...groups.flatMap(([name, items]) => [h('h3', {}, name),
    ...items.map(([label, path, body]) => h('button', {
      type: 'button', 'data-testid': 'chaos-' + (body.how || path), onclick: async () => { $('chaos').open = false; done(await order(path, body)); },
    }, label))]));
}
