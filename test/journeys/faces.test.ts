import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { productVersion } from '../../server/bin/version.ts'
import { ApiClient } from '../support/api-client.ts'
import { readyLines } from '../support/headless.ts'
import { display, electronExecutable as executable, keychain, launch } from '../e2e/desktop.ts'

const root = resolve(import.meta.dirname, '../..')
const freePorts = ['media', 'device', 'node', 'console'].map((name) => `--${name}-port=0`)
const credential = { label: 'Both', access_key: 'both', secret_key: 'both-secret' }

/** Runs the app's program with flags, without a test driver and without a display. */
function run(
  flags: readonly string[],
  env: NodeJS.ProcessEnv = {},
): ChildProcess & { stdout: Readable; stderr: Readable } {
  const child = spawn(executable, [root, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, DISPLAY: undefined, WAYLAND_DISPLAY: undefined, ...keychain('working'), ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stderr.resume()
  return child
}

async function userFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-faces-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** A keychain that the story is about, whatever the session of the run. */
const session = (state: 'working' | 'locked') => ({ STANDIN_KEYCHAIN: state })

test('the app without a window is the headless controller, and opens the site of the window', async () => {
  const userData = await userFolder()
  const site = join(userData, 'site.json')
  await writeFile(site, JSON.stringify({ credentials: [credential] }))
  const desktop = await launch({ userData, args: [`--site=${site}`], env: session('working') })
  const { room_id } = (await desktop.call('rooms.create', { topic: 'Both faces' })) as { room_id: string }
  await desktop.quit()

  const folders = [`--user-data-dir=${userData}`, `--data-dir=${join(userData, 'site')}`]
  const child = run(['--headless', ...folders, ...freePorts], session('working'))
  const ended = once(child, 'exit')
  const ready = (await readyLines(child.stdout).next()).value
  if (ready === undefined) throw new Error('it was never ready')
  const api = new ApiClient(ready, credential)
  await api.authenticate()
  expect(await api.get('/rtc/room/get', { room_id })).toMatchObject({ ret: 0 })
  expect((await fetch(ready.console)).headers.get('content-type')).toContain('text/html')
  // As systemd does: it signals every process of a unit or session, and the one in front forwards its signal.
  process.kill(ready.pid, 'SIGTERM')
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])

  const locked = run(['--headless', ...folders, ...freePorts], session('locked'))
  const said = (await text(locked.stderr)).split('\n').filter((line) => !/^(DevTools .*)?$/.test(line))
  expect(said).toEqual([expect.stringMatching(/^The keychain of this session does not open .*wrapped\.$/)])
})

test('roomdesk --quit shuts down the running app cleanly and waits for it; without a running app it does nothing', async () => {
  const userData = await userFolder()
  const quit = async (): Promise<unknown> => (await once(run([`--user-data-dir=${userData}`, '--quit']), 'exit'))[0]
  expect(await quit()).toBe(0)
  const desktop = await launch({ userData })
  const ended = once(desktop.app.process(), 'exit')
  const asked = quit()
  expect(await ended).toEqual([0, null])
  expect(await asked).toBe(0)
})

test('a service keeps its own log and key, and roomdesk --quit shuts it down cleanly: Windows has no other way', async () => {
  const base = await userFolder()
  const folders = [`--user-data-dir=${join(base, 'app')}`, `--data-dir=${join(base, 'site')}`]
  const child = run(['--headless', '--service', ...folders, ...freePorts])
  const ended = once(child, 'exit')
  const ready = (await readyLines(child.stdout).next()).value
  expect((await fetch(`${ready?.console}/healthz`)).status).toBe(200)
  // Its diagnostics hold the log of earlier runs, too.
  const authorization = `Bearer ${(await readFile(join(base, 'site/console.key'), 'utf8')).trim()}`
  const call = async <T>(procedure: string, input: object): Promise<T> => {
    const asked = { method: 'POST', headers: { authorization }, body: JSON.stringify(input) }
    const answer = await fetch(`${ready?.console}/rpc/${procedure}`, asked)
    return ((await answer.json()) as { value: T }).value
  }
  const { name } = await call<{ name: string }>('diagnostics.make', {})
  const { data } = await call<{ data: string }>('diagnostics.read', { name, offset: 0, length: 100_000 })
  expect(gunzipSync(Buffer.from(data, 'base64')).toString('latin1')).toContain('/log-file.ndjson')
  // A second one leaves it alone.
  expect((await once(run(['--headless', '--service', ...folders, ...freePorts]), 'exit'))[0]).toBe(1)
  expect((await once(run(['--quit', folders[0] ?? '']), 'exit'))[0]).toBe(0)
  expect(await ended).toEqual([0, null])
  expect(await readFile(join(base, 'logs/roomdesk.log'), 'utf8')).toContain('stopping')
  expect(existsSync(join(base, 'site/seal.key'))).toBe(true)
})

test('on Linux the app names the package that provides the service', async () => {
  const child = spawn(executable, [root, '--install-service', `--user-data-dir=${await userFolder()}`])
  expect(await text(child.stderr)).toContain('roomdesk-server brings the service')
  expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(1)
})

test('roomdesk --version and the other commands print their output and exit', async () => {
  const version = run(['--version'])
  expect(await text(version.stdout)).toBe(`${productVersion}\n`)
  const check = run(['--verify-log', `--data-dir=${await userFolder()}`])
  expect((await once(check, 'exit'))[0]).toBe(1)
})

test('a flag that needs a database stops the start of the window with a reason, and creates no other site', async () => {
  const userData = await userFolder()
  const child = run([`--user-data-dir=${userData}`, '--store=postgres://roomdesk@db/roomdesk'], display)
  expect((await once(child, 'exit'))[0]).toBe(1)
  expect(existsSync(join(userData, 'site'))).toBe(false)
})

test('a mistyped flag stops the start of the window, as it does without a window', async () => {
  const userData = await userFolder()
  for (const face of [[], ['--headless']]) {
    const child = run([`--user-data-dir=${userData}`, ...face, '--consol-port=1'], display)
    expect(await text(child.stderr)).toContain('--consol-port')
    expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(1)
  }
  expect(existsSync(join(userData, 'site'))).toBe(false)
})

test('each flag and variable of the headless controller also works in the window', async () => {
  const userData = await userFolder()
  const recordings = join(userData, 'films')
  await mkdir(recordings)
  const flags = ['--event-port=0', '--console-port', '0', '--host=127.0.0.1', '--ffmpeg=/none/ffmpeg']
  const args = [...flags, `--recordings-dir=${recordings}`, '--console-key=on', '--log-level=debug']
  const own = {
    ROOMDESK_DATA_DIR: join(userData, 'elsewhere'),
    ROOMDESK_OLDER_CLIENTS: 'on',
    ROOMDESK_GET_ACCESS_TOKEN: 'on',
  }
  await using desktop = await launch({ userData, args, env: { ...keychain('working'), ...own } })
  expect(await desktop.url('event')).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect((await fetch(await desktop.url('console'))).status).toBe(200)
  expect(await desktop.call('overview.get')).toMatchObject({
    older_clients: { on: true, get_access_token: true, fixed: ['older_clients', 'get_access_token'] },
  })
  const { results } = (await desktop.call('readiness.run', { checks: ['ffmpeg'] })) as { results: unknown[] }
  expect(results).toMatchObject([{ finding: 'ffmpegBroken' }])
  expect(await desktop.call('recordings.status')).toMatchObject({ folder: recordings })
  expect((await stat(join(userData, 'elsewhere/site.json'))).isFile()).toBe(true)
  expect(existsSync(join(userData, 'site'))).toBe(false)
})
