/** STUN and TURN servers. */
export const ice = {
  urls: 'Addresses',
  urlsHint: 'stun: or turn: addresses, one per line.',
  username: 'User name',
  credential: 'Password',
  add: 'Add server',
  remove: 'Remove this server',
  none: 'None: browsers connect directly.',
} as const
