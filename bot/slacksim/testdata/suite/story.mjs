// An app on Slack's own client library, for the peer test. It answers a
// command with a card, a button with a modal, the modal with an edit and a
// file, and a mention in its thread.
import { createRequire } from 'node:module';

const require = createRequire(process.env.PEER_FOLDER + '/');
const { App, LogLevel } = require('@slack/bolt');

const app = new App({
  token: process.env.BOT_TOKEN, appToken: process.env.APP_TOKEN, socketMode: true, logLevel: LogLevel.ERROR,
  clientOptions: { slackApiUrl: process.env.API },
});

app.command('/reconcile', async ({ ack, command, client, respond }) => {
  await ack({ response_type: 'ephemeral', text: 'looking' });
  await respond({ response_type: 'ephemeral', text: 'found ' + command.text });
  await client.chat.postMessage({
    channel: command.channel_id, text: 'the card',
    metadata: { event_type: 'reconcile', event_payload: { key: 'r-1' } },
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: '*the card*' } },
      { type: 'actions', elements: [{ type: 'button', action_id: 'adopt', value: 'r-1', text: { type: 'plain_text', text: 'Adopt' } }] },
    ],
  });
});

app.action('adopt', async ({ ack, body, client }) => {
  await ack();
  await client.views.open({
    trigger_id: body.trigger_id,
    view: {
      type: 'modal', callback_id: 'adopt', private_metadata: body.message.ts,
      title: { type: 'plain_text', text: 'Adopt' }, submit: { type: 'plain_text', text: 'Go' },
      blocks: [{ type: 'input', block_id: 'why', label: { type: 'plain_text', text: 'Why?' }, element: { type: 'plain_text_input', action_id: 'text' } }],
    },
  });
});

app.view('adopt', async ({ ack, view, client, body }) => {
  const why = view.state.values.why.text.value;
  if (why === 'no') {
    await ack({ response_action: 'errors', errors: { why: 'Say why.' } });
    return;
  }
  await ack();
  const who = await client.users.info({ user: body.user.id });
  await client.chat.update({ channel: 'C0INC', ts: view.private_metadata, text: `adopted by ${who.user.name}: ${why}` });
  await client.filesUploadV2({ channel_id: 'C0INC', thread_ts: view.private_metadata, filename: 'plan.diff', content: '+ replicas: 6\n', title: 'Plan' });
  const found = await client.conversations.replies({ channel: 'C0INC', ts: view.private_metadata, include_all_metadata: true });
  await client.chat.postMessage({ channel: 'C0INC', thread_ts: view.private_metadata, text: 'key ' + found.messages[0].metadata.event_payload.key });
});

app.event('app_mention', async ({ event, client }) => {
  await client.chat.postMessage({ channel: event.channel, thread_ts: event.ts, text: 'you called' });
});

await app.start();
