import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const program = process.env.ROOMDESK_CHROMIUM ?? '/usr/lib/chromium/chromium'

const flags = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
]

/**
 * Starts Debian's Chromium without a window.
 * @param more further switches
 * @throws one line that says how to install it, where it is missing
 */
export async function openChromium(more: readonly string[] = []): Promise<Browser> {
  if (!existsSync(program)) {
    throw new Error(`${program} is missing: apt-get install chromium, or name another one in ROOMDESK_CHROMIUM`)
  }
  return chromium.launch({ executablePath: program, args: [...flags, ...more] })
}
