import { existsSync } from 'node:fs'

/** Debian's full Chromium, which also has e.g. the permission prompt. */
export const wholeChromium = process.env.ROOMDESK_CHROMIUM ?? '/usr/lib/chromium/chromium'

const shell = '/usr/lib/chromium/chromium-headless-shell'

/** Browser of the tests: Debian's headless shell if it is installed. It has the same pages, media and sandbox, at a fraction of the processor time. */
export const chromiumProgram = process.env.ROOMDESK_CHROMIUM ?? (existsSync(shell) ? shell : wholeChromium)
