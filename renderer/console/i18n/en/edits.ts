/** Conflicts of edits. */
export const edits = {
  title: 'Changed meanwhile',
  body: 'While you were editing, others changed the same fields. Choose the value to keep. Everything else you changed is saved.',
  mine: 'Your value',
  theirs: 'Current value',
  theirsBy: 'Changed by {name}, {time}',
  none: 'none',
  secret: 'hidden',
  change: '{field}: {before} → {after}',
  secretChanged: '{field} changed',
  quoted: '“{text}”',
  part: '{field} ({part})',
  named: '{field}: {value}',
  separator: '; ',
  templateSettings: 'Room settings',
} as const
