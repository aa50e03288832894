import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { freePort } from '../support/free-port.ts'
import { readyLines } from '../support/headless.ts'
import { descendantsOf } from './processes.ts'
import type { Report } from './report.ts'
import { until } from './until.ts'

const root = join(import.meta.dirname, '../..')
/** Size that the mirror announces, in bytes. */
const archiveBytes = 100_000_000
/** Time until all processes have ended after Ctrl+C, in milliseconds. */
const endMs = 20_000

/**
 * Runs `npm start` as a person does: where Electron's binary cannot be fetched, and where it is present.
 * @param distribution folder with Electron's binary; undefined: that of the project
 */
export async function tellOfStart(report: Report, distribution: string | undefined): Promise<void> {
  if (process.platform === 'win32') {
    report.skip('start', 'a program cannot press Ctrl+C for another one on Windows')
    return
  }
  await report.check('start.fetch-broken', fetchBroken)
  await report.check('start.fetch-refused', fetchRefused)
  await report.check('start.fetch-interrupted', interruptFetch)
  await report.check('start.window', () => openWindow(distribution))
}

/** A connection that breaks: the progress is shown until then. */
async function fetchBroken(): Promise<string> {
  await using mirror = await startServer((server) =>
    server.on('request', (_, response) => sendPart(response, 0.4, true)),
  )
  await using started = await start({ ELECTRON_MIRROR: `${mirror.url}/` }, ['--fetch-electron'])
  const url = await runsHeadless(started)
  const shown = progressOf(started.said())
  if (shown.length < 2) throw new Error(`it showed no progress:\n${started.said()}`)
  await started.pressCtrlC()
  return `${shown.at(-1)}; then ${url}`
}

/** A proxy that lets nothing through. */
async function fetchRefused(): Promise<string> {
  let asked = 0
  await using proxy = await startServer((server) =>
    server.on('connect', (_, socket) => {
      asked += 1
      socket.on('error', () => {})
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    }),
  )
  await using started = await start({ HTTPS_PROXY: proxy.url, https_proxy: proxy.url }, ['--fetch-electron'])
  const url = await runsHeadless(started)
  if (asked === 0) throw new Error('it did not ask the proxy')
  await started.pressCtrlC()
  return url
}

/** Ctrl+C while the fetch waits for more. */
async function interruptFetch(): Promise<string> {
  await using mirror = await startServer((server) =>
    server.on('request', (_, response) => sendPart(response, 0.2, false)),
  )
  await using started = await start({ ELECTRON_MIRROR: `${mirror.url}/` }, ['--fetch-electron'])
  await until('progress', () => progressOf(started.said()).length > 0)
  return `${await started.pressCtrlC()} processes ended`
}

/** The app with its window. */
async function openWindow(distribution: string | undefined): Promise<string> {
  const port = await freePort()
  const env = distribution === undefined ? {} : { ELECTRON_OVERRIDE_DIST_PATH: distribution }
  await using started = await start(env, [`--media-port=${port}`, '--device-port=0', '--node-port=0'])
  await until('answer of the app', async () => (await fetch(`http://127.0.0.1:${port}/openapi.json`)).ok, 60_000)
  if (started.said().includes('headless')) throw new Error(`it runs headless:\n${started.said()}`)
  return `${await started.pressCtrlC()} processes ended`
}

/** Waits until the controller answers without a window, which is said in one line. Returns the console's URL. */
async function runsHeadless({ child, said }: Started): Promise<string> {
  const ready = (await readyLines(child.stdout).next()).value
  if (ready === undefined) throw new Error(`it was never ready; it wrote:\n${said().slice(-2_000)}`)
  const { status } = await fetch(`${ready.console}/healthz`)
  if (status !== 200) throw new Error(`/healthz was answered with ${status}`)
  const lines = said().split('\n')
  const sentences = lines.filter((line) => line.includes('starting headless'))
  const reasons = lines.filter((line) => line.startsWith("Electron's binary could not be fetched: "))
  if (sentences.length !== 1 || reasons.length !== 1) throw new Error(`it said:\n${said().slice(-2_000)}`)
  return ready.console
}

/** Lines with the progress of the fetch. */
function progressOf(said: string): string[] {
  return said.split(/[\r\n]/).filter((line) => /^Electron \S+: \d+ of \d+ MB$/.test(line))
}

/** A running `npm start`. */
interface Started extends AsyncDisposable {
  child: ChildProcessByStdio<null, Readable, Readable>
  /** Its stderr so far. */
  said: () => string
  /** Interrupts it as a terminal does: all of its processes. Resolves to their number once they have ended. */
  pressCtrlC: () => Promise<number>
}

async function start(env: NodeJS.ProcessEnv, args: readonly string[]): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-npm-start-'))
  const isFetch = args.includes('--fetch-electron')
  // A fetch begins with none, neither installed nor in the cache.
  const missing = { ELECTRON_OVERRIDE_DIST_PATH: folder, electron_config_cache: join(folder, 'cache') }
  const ports = ['media', 'device', 'node', 'console'].map((name) => `--${name}-port=0`)
  const own = isFetch ? [`--data-dir=${join(folder, 'site')}`, ...ports] : [`--user-data-dir=${folder}`]
  const child = spawn('npm', ['start', '--', ...args, ...own], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...(isFetch && missing), ...env },
    // A process group of its own, as a terminal makes one for each command.
    detached: true,
  })
  let written = ''
  child.stderr.on('data', (chunk: Buffer) => (written += chunk.toString()))
  const interrupt = (signal: NodeJS.Signals): void => {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  }
  return {
    child,
    said: () => written,
    async pressCtrlC() {
      const pid = child.pid ?? 0
      const all = [pid, ...(await descendantsOf(pid)).map((one) => one.pid)]
      interrupt('SIGINT')
      await until('end of all processes', () => !all.some(isRunning), endMs)
      return all.length
    },
    async [Symbol.asyncDispose]() {
      try {
        interrupt('SIGKILL')
      } catch {
        // All have ended.
      }
      await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Sends a share of the archive. @param cut ends the connection then; else nothing more comes */
function sendPart(response: http.ServerResponse, share: number, cut: boolean): void {
  const chunk = Buffer.alloc(1_000_000)
  response.writeHead(200, { 'Content-Length': archiveBytes })
  let left = (archiveBytes * share) / chunk.length
  const send = (): void => {
    left -= 1
    if (left >= 0) response.write(chunk, send)
    else if (cut) response.destroy()
  }
  send()
}

interface Serving extends AsyncDisposable {
  url: string
}

async function startServer(prepare: (server: http.Server) => void): Promise<Serving> {
  const server = http.createServer()
  prepare(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
