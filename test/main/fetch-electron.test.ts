import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { bringElectron } from '../../packaging/installers/electron-archives.ts'
import { installedProgram, noWindow } from '../../scripts/electron-program.mjs'
import { temporaryFolder } from '../support/sites/store-site.ts'

const root = resolve(import.meta.dirname, '../..')

/** The package electron as npm installs it: without its binary. */
async function electronPackage(): Promise<string> {
  const around = await temporaryFolder()
  const home = join(around, 'electron')
  await mkdir(home)
  for (const file of ['package.json', 'install.js', 'checksums.json'])
    await cp(join(root, 'node_modules/electron', file), join(home, file))
  await symlink(join(root, 'node_modules'), join(around, 'node_modules'))
  return home
}

/** Fetches from a mirror that answers like this. */
async function fetchFrom(home: string, mirror: RequestListener, env: NodeJS.ProcessEnv = {}) {
  await using server = createServer(mirror).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const child = spawn(process.execPath, [join(root, 'scripts/fetch-electron.mjs'), home], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      ELECTRON_OVERRIDE_DIST_PATH: undefined,
      ELECTRON_MIRROR: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      electron_config_cache: join(home, 'cache'),
      ...env,
    },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number]>])
  server.closeAllConnections()
  return { said, code }
}

test('Electron is fetched with its progress, and counts as present only once it is extracted whole', async () => {
  const home = await electronPackage()
  const { version } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as { version: string }
  const name = `electron-v${version}-${process.platform}-${process.arch}.zip`
  const distribution = join(home, 'made')
  await mkdir(distribution)
  await writeFile(join(distribution, 'version'), version)
  await writeFile(join(distribution, 'electron'), '#!/bin/sh\n')
  await chmod(join(distribution, 'electron'), 0o755)
  await writeFile(
    join(distribution, 'resources.pak'),
    Buffer.alloc(3_000_000, 'pak').map((byte, at) => byte ^ (at * 31)),
  )
  expect(
    spawnSync('python3', [
      '-m',
      'zipfile',
      '-c',
      join(home, name),
      ...['version', 'electron', 'resources.pak'].map((file) => join(distribution, file)),
    ]).status,
  ).toBe(0)
  const zip = await readFile(join(home, name))
  // The real files are checked against the sums in the package.
  await writeFile(
    join(home, 'checksums.json'),
    JSON.stringify({ [name]: createHash('sha256').update(zip).digest('hex') }),
  )

  const { said, code } = await fetchFrom(home, (_request, response) => {
    response.setHeader('content-length', zip.length)
    response.end(zip)
  })
  expect([code, said]).toEqual([0, expect.stringMatching(/^Electron [\d.]+: \d+ of \d+ MB$/m)])
  expect(installedProgram(home)).toBe(join(home, 'dist/electron'))

  // A binary that was cut off while it was extracted has no path.txt.
  await rm(join(home, 'path.txt'))
  expect(installedProgram(home)).toBeUndefined()
})

test("Electron's archives for other machines are fetched into a folder of tools, and from then on need no mirror", async () => {
  const home = await electronPackage()
  const { version } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as { version: string }
  const zip = Buffer.from('an archive')
  const name = `electron-v${version}-win32-arm64.zip`
  const checksums = { [name]: createHash('sha256').update(zip).digest('hex') }
  await writeFile(join(home, 'checksums.json'), JSON.stringify(checksums))
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(String(request.url))
    response.end(zip)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  vi.stubEnv('ELECTRON_MIRROR', `http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  vi.stubEnv('electron_config_cache', join(home, 'cache'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const tools = join(home, 'tools')
  expect(await bringElectron(tools, ['win32-arm64'], home)).toEqual([])
  expect(asked).toEqual([`/v${version}/${name}`])
  expect(await readFile(join(tools, name))).toEqual(zip)

  server.closeAllConnections()
  server.close()
  await rm(join(home, 'cache'), { recursive: true })
  expect(await bringElectron(tools, ['win32-arm64'], home)).toEqual([])
  // A damaged one is not used.
  await writeFile(join(tools, name), 'something else')
  expect(await bringElectron(tools, ['win32-arm64'], home)).toEqual([
    `Electron for win32 arm64: name a folder or archive that holds it (-c.electronDist=PATH), or put ${name} into ${tools}.`,
  ])
})

/** Time without a byte after which it gives up, in milliseconds; a mirror that answers has as long as in production. */
const stallMs = '500'

test.each<[string, RequestListener, RegExp, NodeJS.ProcessEnv?]>([
  ['has no such file', (_request, response) => void response.writeHead(404).end(), /: Response code 404/],
  [
    'drops the connection',
    (request) => void request.socket.destroy(),
    /: the server cannot be reached \(UND_ERR_SOCKET|ECONNRESET\)/,
  ],
  [
    'sends something else',
    (_request, response) => void response.end('not electron'),
    /: what came is damaged, or was changed on the way/,
  ],
  ['says nothing', () => undefined, /: nothing came for 0\.5 s/, { ROOMDESK_FETCH_STALL_MS: stallMs }],
  [
    'stops in the middle',
    (_request, response) => {
      response.setHeader('content-length', 1_000_000)
      response.write(Buffer.alloc(100_000))
    },
    /: nothing came for 0\.5 s/,
    { ROOMDESK_FETCH_STALL_MS: stallMs },
  ],
])('a mirror that %s: the reason and what to do are said', async (_what, mirror, reason, env) => {
  const home = await electronPackage()
  const { said, code } = await fetchFrom(home, mirror, env)
  expect(code).toBe(1)
  expect(said).toMatch(reason)
  expect(said).toContain('HTTPS_PROXY')
  expect(said).toContain('ELECTRON_MIRROR')
  expect(said).not.toMatch(/^\s+at /m)
})

/** A desktop session whose files are in a folder of the test. */
const session = (root: string) => ({
  root,
  folder: join(root, 'electron'),
  env: { WAYLAND_DISPLAY: 'wayland-1', XDG_RUNTIME_DIR: '/run/user/1000' },
  flags: [],
  uid: 1000,
})

test.skipIf(process.platform !== 'linux')('a window is not opened on a Wayland display that is gone', async () => {
  const system = await temporaryFolder()
  const wayland = session(system)
  const runtime = join(system, 'run/user/1000')
  await mkdir(runtime, { recursive: true })
  expect(noWindow(wayland)).toEqual({
    reason: 'The Wayland display wayland-1 is not here',
    mend: 'for a window, start it in a terminal of the desktop session, as its user',
  })
  await writeFile(join(runtime, 'wayland-1'), '')
  expect(noWindow(wayland)).toBeUndefined()
  const at = join(runtime, 'wayland-1').slice(system.length)
  expect(noWindow({ ...wayland, env: { WAYLAND_DISPLAY: at } })).toBeUndefined()
  await rm(join(runtime, 'wayland-1'))
  // Chromium takes the other display.
  expect(noWindow({ ...wayland, env: { ...wayland.env, DISPLAY: ':0' } })).toBeUndefined()
  expect(noWindow({ ...wayland, env: {} })).toMatchObject({ reason: 'There is no display' })
})

test.skipIf(process.platform !== 'linux')(
  'a system without namespaces for everybody gives a sandbox only through the helper of root',
  async () => {
    const system = await temporaryFolder()
    const facts = join(system, 'proc/sys/kernel')
    await mkdir(facts, { recursive: true })
    const distribution = join(system, 'electron')
    await mkdir(distribution)
    const x11 = { ...session(system), env: { DISPLAY: ':0' } }
    expect(noWindow(x11)).toBeUndefined()
    await writeFile(join(facts, 'apparmor_restrict_unprivileged_userns'), '1\n')
    const helper = join(distribution, 'chrome-sandbox')
    const closed = {
      reason: 'This system gives Chromium no sandbox',
      mend: `for a window, install the .deb, which brings an AppArmor profile, or run: sudo chown root ${helper} && sudo chmod 4755 ${helper}`,
    }
    expect(noWindow(x11)).toEqual(closed)
    expect(noWindow({ ...x11, flags: ['--no-sandbox'] })).toBeUndefined()
    await writeFile(helper, '')
    await chmod(helper, 0o755)
    expect(noWindow(x11)).toEqual(closed)
    if (process.getuid?.() !== 0) return
    await chmod(helper, 0o4755)
    expect(noWindow(x11)).toBeUndefined()
  },
)
