import { existsSync } from 'node:fs'

/** Debian's Chromium with everything, e.g. the prompt for a permission. */
export const wholeChromium = process.env.ROOMDESK_CHROMIUM ?? '/usr/lib/chromium/chromium'

const shell = '/usr/lib/chromium/chromium-headless-shell'

/** What tests run in: Debian's headless shell where it is installed. It has the same pages, media and sandbox, and takes a fraction of the processor time. */
export const chromiumProgram = process.env.ROOMDESK_CHROMIUM ?? (existsSync(shell) ? shell : wholeChromium)
