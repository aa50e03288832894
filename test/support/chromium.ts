import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { chromiumProgram, wholeChromium } from './chromium-program.ts'

const flags = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
]

/**
 * Starts Chromium without a window.
 * @param more further switches
 * @param needsWhole whether the headless shell lacks what is asked of it, as the prompt for a permission
 * @throws one line that says how to install it, where it is missing
 */
export async function openChromium(more: readonly string[] = [], needsWhole = false): Promise<Browser> {
  const program = needsWhole ? wholeChromium : chromiumProgram
  if (!existsSync(program)) {
    throw new Error(
      `${program} is missing: apt-get install chromium chromium-headless-shell, or name another one in ROOMDESK_CHROMIUM`,
    )
  }
  return chromium.launch({ executablePath: program, args: [...flags, ...more] })
}
