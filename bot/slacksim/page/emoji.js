// The emoji that status messages use. Others are shown by name.
const known = {
  white_check_mark: '✅', heavy_check_mark: '✔️', x: '❌', warning: '⚠️', hourglass: '⌛', hourglass_flowing_sand: '⏳',
  rotating_light: '🚨', lock: '🔒', unlock: '🔓', eyes: '👀', rocket: '🚀', tada: '🎉', thumbsup: '👍', '+1': '👍',
  thumbsdown: '👎', '-1': '👎', no_entry: '⛔', stop_sign: '🛑', information_source: 'ℹ️', question: '❓',
  large_green_circle: '🟢', large_yellow_circle: '🟡', red_circle: '🔴', large_blue_circle: '🔵', white_circle: '⚪',
  arrow_right: '➡️', arrows_counterclockwise: '🔄', mag: '🔍', memo: '📝', link: '🔗', bell: '🔔', clock1: '🕐', pushpin: '📌',
  double_vertical_bar: '⏸️', arrow_forward: '▶️', wave: '👋', pray: '🙏', fire: '🔥', bug: '🐛', gear: '⚙️',
};

export const emoji = (name) => known[name];
