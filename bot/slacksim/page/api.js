// The page's way to the simulator.
export async function look(path, params = {}) {
  const answer = await fetch(`/_sim/${path}?${new URLSearchParams(params)}`);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

export async function order(path, body = {}) {
  const answer = await fetch('/_sim/' + path, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
  });
  const result = await answer.json().catch(() => ({ ok: false, error: 'the local Slack did not answer' }));
  return result;
}

// follow calls back at every change; the browser reconnects by itself.
export function follow(changed, lost) {
  const events = new EventSource('/_sim/events');
  events.onmessage = changed;
  events.onerror = lost;
}
