import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isGenuine } from '../e2e/desktop.ts'
import { freePort } from '../support/free-port.ts'
import { type Ready, readyLines } from '../support/headless.ts'

const root = resolve(import.meta.dirname, '../..')

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roomdesk-start-'))
})
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

const freePorts = ['media', 'device', 'node', 'console'].map((name) => `--${name}-port=0`)

/** Runs `npm start`'s script until the end of the test. */
function start(args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [join(root, 'scripts/start.mjs'), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, DISPLAY: undefined, WAYLAND_DISPLAY: undefined, ...env },
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  return {
    child,
    /** Lines of stderr for people. */
    said: () => said.split('\n').filter((line) => line !== '' && !line.startsWith('{')),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** Reads the `ready` line of a headless start. */
async function readyLine({ child }: ReturnType<typeof start>): Promise<Ready> {
  const ready = (await readyLines(child.stdout).next()).value
  if (ready === undefined) throw new Error('it ended before it was ready')
  return ready
}

test.each([
  ['is missing', [], /^Electron's binary is not here \(npm start -- --fetch-electron fetches it\): starting headless/],
  [
    'cannot be fetched',
    ['--fetch-electron'],
    /^Electron's binary is not here and could not be fetched \(what to do is said above\): starting headless/,
  ],
])(
  "if Electron's binary %s, it says so in one line and starts headless",
  async (_what, flags, line) => {
    await using started = start([...flags, `--data-dir=${folder}`, ...freePorts], {
      ELECTRON_OVERRIDE_DIST_PATH: folder,
      // A closed port: offline at once.
      ELECTRON_MIRROR: 'http://127.0.0.1:9/',
      electron_config_cache: join(folder, 'cache'),
    })
    const ready = await readyLine(started)
    expect(ready.pid).toBe(started.child.pid)
    expect((await fetch(ready.console)).headers.get('content-type')).toContain('text/html')
    expect(started.said().filter((text) => text.includes('starting headless'))).toEqual([expect.stringMatching(line)])
  },
  60_000,
)

test.skipIf(process.platform !== 'linux')(
  'without a display it starts headless, too',
  async () => {
    await using started = start([`--data-dir=${folder}`, ...freePorts], { ELECTRON_OVERRIDE_DIST_PATH: undefined })
    await readyLine(started)
    expect(started.said()).toContain(
      "There is no display (for a window, start it in a desktop session): starting headless, open the console's URL in a browser.",
    )
  },
  60_000,
)

test.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)(
  'as root it starts headless, too: Chromium has no sandbox for root',
  async () => {
    const display = { ELECTRON_OVERRIDE_DIST_PATH: undefined, DISPLAY: ':0' }
    await using started = start([`--data-dir=${folder}`, ...freePorts], display)
    await readyLine(started)
    expect(started.said()).toContain(
      "The desktop app does not run as root (for a window, start it as the user of the desktop): starting headless, open the console's URL in a browser.",
    )
  },
  60_000,
)

// Electron itself needs a display, which tests may not have.
test.skipIf(isGenuine)(
  'with the binary, it opens the desktop app and ends with it',
  async () => {
    const port = await freePort()
    const flags = [`--user-data-dir=${folder}`, `--media-port=${port}`, '--device-port=0', '--node-port=0']
    await using started = start(flags, { ELECTRON_OVERRIDE_DIST_PATH: join(root, 'test/standin') })
    const answers = (): Promise<number> =>
      fetch(`http://127.0.0.1:${port}/openapi.json`).then(
        ({ status }) => status,
        () => 0,
      )
    await expect.poll(answers, { timeout: 30_000 }).toBe(200)
    expect(started.said().join()).not.toContain('headless')
    started.child.kill('SIGTERM')
    expect(await once(started.child, 'exit')).toEqual([0, null])
  },
  60_000,
)
