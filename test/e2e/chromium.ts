/** Debian's Chromium, as the tests and scripts run it. */
export const chromiumProgram = process.env.ROOMDESK_CHROMIUM ?? '/usr/lib/chromium/chromium'

export const chromiumFlags = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
]
