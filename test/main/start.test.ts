import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { display, isGenuine } from '../e2e/desktop.ts'
import { freePort } from '../support/free-port.ts'
import { type Ready, readyLines } from '../support/headless.ts'
import { built } from '../support/built.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

const root = resolve(import.meta.dirname, '../..')

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder()
})

const freePorts = ['media', 'device', 'node', 'console'].map((name) => `--${name}-port=0`)

/** Runs `npm start`'s script until the end of the test. */
function start(args: readonly string[], env: NodeJS.ProcessEnv, project = root) {
  const child = spawn(process.execPath, [join(project, 'scripts/start.mjs'), ...args], {
    cwd: project,
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

const isAnswering = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/openapi.json`).then(
    ({ ok }) => ok,
    () => false,
  )

/** A copy of the project without Electron's binary. */
async function projectCopy(): Promise<string> {
  const copy = join(folder, 'project')
  const electron = join(copy, 'node_modules/electron')
  await mkdir(electron, { recursive: true })
  for (const name of await readdir(root)) {
    if (name === 'scripts') await cp(join(root, name), join(copy, name), { recursive: true })
    else if (name !== 'node_modules' && name !== 'dist') await symlink(join(root, name), join(copy, name))
  }
  await cp(built(''), join(copy, 'dist'), { recursive: true })
  const packages = join(root, 'node_modules')
  for (const name of await readdir(packages))
    if (name !== 'electron') await symlink(join(packages, name), join(copy, 'node_modules', name))
  for (const file of ['package.json', 'install.js']) await cp(join(packages, 'electron', file), join(electron, file))
  return copy
}

test.skipIf(process.platform !== 'linux')(
  'the first start fetches Electron from a mirror, and opens the app with it',
  async () => {
    const project = await projectCopy()
    const electron = join(project, 'node_modules/electron')
    const { version } = JSON.parse(await readFile(join(electron, 'package.json'), 'utf8')) as { version: string }
    const name = `electron-v${version}-linux-${process.arch}.zip`
    await writeFile(join(folder, 'version'), version)
    await writeFile(join(folder, 'electron'), `#!/bin/sh\nexec ${join(root, 'test/standin/electron')} "$@"\n`)
    await chmod(join(folder, 'electron'), 0o755)
    spawnSync('python3', ['-m', 'zipfile', '-c', join(folder, name), join(folder, 'version'), join(folder, 'electron')])
    const zip = await readFile(join(folder, name))
    await writeFile(
      join(electron, 'checksums.json'),
      JSON.stringify({ [name]: createHash('sha256').update(zip).digest('hex') }),
    )
    await using mirror = createServer((_request, response) => void response.end(zip)).listen(0, '127.0.0.1')
    await once(mirror, 'listening')
    const port = await freePort()
    const flags = [`--user-data-dir=${folder}/data`, `--media-port=${port}`, '--device-port=0', '--node-port=0']
    // Root, as in containers, starts it without a sandbox only.
    await using started = start(
      ['--fetch-electron', '--no-sandbox', ...flags],
      {
        ELECTRON_OVERRIDE_DIST_PATH: undefined,
        ELECTRON_MIRROR: `http://127.0.0.1:${(mirror.address() as AddressInfo).port}/`,
        electron_config_cache: join(folder, 'cache'),
        DISPLAY: ':0',
      },
      project,
    )
    await expect.poll(() => isAnswering(port), { timeout: 40_000 }).toBe(true)
    expect(started.said().join('\n')).toMatch(/^Electron \S+: \d+ of \d+ MB$/m)
    expect(started.said().join()).not.toContain('headless, open')
  },
  90_000,
)

// Electron itself needs a display, which tests may not have.
test.skipIf(isGenuine)(
  'with the binary, it opens the desktop app and ends with it',
  async () => {
    const port = await freePort()
    const flags = [`--user-data-dir=${folder}`, `--media-port=${port}`, '--device-port=0', '--node-port=0']
    await using started = start(flags, { ...display, ELECTRON_OVERRIDE_DIST_PATH: join(root, 'test/standin') })
    await expect.poll(() => isAnswering(port), { timeout: 30_000 }).toBe(true)
    expect(started.said().join()).not.toContain('headless')
    started.child.kill('SIGTERM')
    expect(await once(started.child, 'exit')).toEqual([0, null])
  },
  60_000,
)

test.skipIf(process.platform === 'win32')(
  'Ctrl+C in a terminal reaches the app once: at the second signal Electron ends at once',
  async () => {
    const signals = join(folder, 'signals')
    // It notes its signals, and ends a moment after the first one.
    const program = [
      "import { appendFileSync } from 'node:fs'",
      `process.on('SIGINT', () => { appendFileSync('${signals}', 'SIGINT '); setTimeout(() => process.exit(), 500) })`,
      "console.log('running')",
      'setInterval(() => {}, 1000)',
    ]
    await writeFile(join(folder, 'app.mjs'), program.join('\n'))
    await writeFile(join(folder, 'electron'), `#!/bin/sh\nexec '${process.execPath}' '${join(folder, 'app.mjs')}'\n`)
    await chmod(join(folder, 'electron'), 0o755)
    const child = spawn(process.execPath, [join(root, 'scripts/start.mjs')], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, DISPLAY: ':0', ELECTRON_OVERRIDE_DIST_PATH: folder },
      // A process group of its own, as a terminal makes one for each command.
      detached: true,
    })
    await once(child.stdout, 'data')
    process.kill(-Number(child.pid), 'SIGINT')
    await once(child, 'exit')
    expect(await readFile(signals, 'utf8')).toBe('SIGINT ')
  },
)
