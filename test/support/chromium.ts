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
  // Nodes of tests run on this machine; some have a host name.
  '--allow-loopback-in-peer-connection',
  '--host-resolver-rules=MAP roomdesk.example 127.0.0.1',
]

/**
 * Starts Chromium without a window.
 * @param more further switches
 * @param needsWhole whether the test needs a feature that the headless shell lacks, such as the permission prompt
 * @throws Error of one line with the command that installs it, if it is missing
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

/** Windows of one user in a shared browser; closing it closes only these. */
export type Windows = Pick<Browser, 'newContext' | 'newPage' | 'close'> & AsyncDisposable

/** Browsers of this process, by their switches. Each ends with the process because its pipe breaks. */
const running = new Map<string, Promise<Browser>>()

/**
 * Opens windows in a Chromium that the test files of this process share: starting one takes longer than most tests.
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
  const close = async (): Promise<void> => {
    await Promise.all([...contexts].map((context) => context.close()))
  }
  return {
    newContext,
    newPage: async (options) => (await newContext(options)).newPage(),
    close,
    [Symbol.asyncDispose]: close,
  }
}
