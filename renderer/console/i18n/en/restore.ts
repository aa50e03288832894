/** Texts of a restore: origin of a backup, and effect on accounts and tokens. */
export const restore = {
  proof: { missing: 'Not proven', wrong: 'Changed or foreign' },
  unproven: {
    missing: 'Nothing proves that this site created this backup: an earlier version or another program did.',
    wrong: 'This backup was changed after it was created, or another site created it.',
    here: 'Restore it only if you know where it comes from: it also decides who may sign in.',
    elsewhere:
      'It can be restored only on the machine itself: in the desktop app, or at http://127.0.0.1 with the console key.',
  },
  access: {
    title: 'Accounts and access tokens',
    gained: 'Comes back',
    lost: 'Removed',
    changed: 'As it was then',
    account: '{name} ({role})',
    disabled: '{name} ({role}, disabled)',
    token: 'Token {name} of {account} ({role}, until {date})',
    more: '{n} more',
  },
} as const
