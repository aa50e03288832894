import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { chromiumProgram, wholeChromium } from './chromium-program.ts'

const flags = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
  // Nodes of tests are on this machine; some go by a name.
  '--allow-loopback-in-peer-connection',
  '--host-resolver-rules=MAP roomdesk.example 127.0.0.1',
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

/** Windows of one user in a browser; closing it closes these, and no others. */
export type Windows = Pick<Browser, 'newContext' | 'newPage' | 'close'>

/** Those of this process, by their switches. Each ends with the process: the pipe to it breaks. */
const running = new Map<string, Promise<Browser>>()

/**
 * Windows in a Chromium that the test files of this process share: starting one takes longer than what most of them do with it.
 * @param more further switches
 * @param needsWhole as for {@link openChromium}
 */
export async function openWindows(more: readonly string[] = [], needsWhole = false): Promise<Windows> {
  const key = JSON.stringify([more, needsWhole])
  let browser = await running.get(key)
  if (browser?.isConnected() !== true) {
    const started = openChromium(more, needsWhole)
    running.set(key, started)
    browser = await started
  }
  const contexts = new Set<BrowserContext>()
  const newContext: Windows['newContext'] = async (options) => {
    const context = await browser.newContext(options)
    contexts.add(context)
    context.once('close', () => contexts.delete(context))
    return context
  }
  return {
    newContext,
    newPage: async (options) => (await newContext(options)).newPage(),
    close: async () => {
      await Promise.all([...contexts].map((context) => context.close()))
    },
  }
}
