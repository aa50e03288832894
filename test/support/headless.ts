import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../../shared/console/contract.ts'
import type { ConsoleResult } from '../../shared/domain/outcome.ts'
import { built } from './built.ts'

const ownProgram = built('server/headless.js')

/** Content of the `ready` line. */
export interface Ready {
  media: string
  device: string
  node: string
  console: string
  pid: number
}

/** A headless controller in its own process, as an operator runs it. */
export class Headless implements AsyncDisposable {
  /** Content of the last `ready` line. */
  ready: Ready
  readonly folder: string
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  /** Lines of its stderr. */
  readonly log: string[]
  /** Milliseconds from the start of the process to the `ready` line. */
  readonly startedIn: number
  /** Stream of the further `ready` lines. */
  readonly #lines: AsyncIterator<Ready>

  constructor(
    options: Pick<Headless, 'ready' | 'folder' | 'child' | 'log' | 'startedIn'> & { lines: AsyncIterator<Ready> },
  ) {
    this.ready = options.ready
    this.#lines = options.lines
    this.folder = options.folder
    this.child = options.child
    this.log = options.log
    this.startedIn = options.startedIn
  }

  /** Waits for the next `ready` line, after the process has restarted itself. */
  async readyAgain(): Promise<Ready> {
    const { value, done } = await this.#lines.next()
    if (done === true) throw new HeadlessEndedError(this.child.exitCode, this.log.join('\n'))
    this.ready = value
    return value
  }

  /** Switches the scheme of the console after its certificate was set or removed: the port stays the same. */
  consoleSpeaks(scheme: 'http' | 'https'): void {
    this.ready = { ...this.ready, console: this.ready.console.replace(/^https?/, scheme) }
  }

  /** Sends a signal and resolves to the exit code (null if a signal ended it). */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode
    this.child.kill(signal)
    const [code] = (await once(this.child, 'exit')) as [number | null]
    return code
  }

  /** Ends it, in order unless another signal is given, and removes its data folder. */
  async remove(signal?: NodeJS.Signals): Promise<void> {
    await this.stop(signal)
    await removeFolder(this.folder)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove()
  }

  /** Calls a console procedure like a script and returns the complete result. */
  async result<N extends ProcedureName>(name: N, input: ProcedureInput<N>): Promise<ConsoleResult<ProcedureOutput<N>>> {
    const key = (await readFile(join(this.folder, 'console.key'), 'utf8')).trim()
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const url = `${this.ready.console}/rpc/${name}`
    const { request } = url.startsWith('https:') ? https : http
    // Uses a new connection: a kept one may end meanwhile, e.g. when the port moves. The site's certificate is self-signed.
    const sent = request(url, { method: 'POST', headers, agent: false, rejectUnauthorized: false })
    sent.end(JSON.stringify(input ?? {}))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return (await json(response)) as ConsoleResult<ProcedureOutput<N>>
  }

  /** Calls a console procedure and throws if it fails. */
  async rpc<N extends ProcedureName>(name: N, input: ProcedureInput<N>): Promise<ProcedureOutput<N>> {
    const result = await this.result(name, input)
    if (!result.ok) throw new Error(`${name}: ${result.error.code}: ${result.error.message}`)
    return result.value
  }
}

/** Options of a start; defaults are a new temporary folder and free ports. */
export interface HeadlessOptions {
  folder?: string
  site?: unknown
  flags?: string[]
  env?: NodeJS.ProcessEnv
  /** Ports: free ones by flags, which override the settings, or those of the settings. */
  ports?: 'free' | 'settings'
  /** The built controller; default: that of this checkout. */
  program?: string
  /** Command that starts it on another machine, for example `Machine.through`; left out: on this machine. */
  through?: readonly string[]
}

/** A site file for a test that needs no media: without one, a first start adds the embedded node, whose program takes as long to start as the controller. */
export const siteWithoutMedia = { nodes: [{ name: 'lab', kind: 'simulated' }] }

/** Starts the built controller and resolves at its `ready` line; rejects with its output if it ends before. */
export async function startHeadless(options: HeadlessOptions = {}): Promise<Headless> {
  const { program = ownProgram } = options
  if (!existsSync(program)) throw new Error('dist is missing: run "npm run build" first')
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'roomdesk-')))
  const free = ['--media-port', '0', '--device-port', '0', '--node-port', '0', '--console-port', '0']
  const ports = options.ports === 'settings' ? [] : free
  const args = [program, '--data-dir', folder, ...ports, ...(options.flags ?? [])]
  if (options.site !== undefined) {
    const file = `${folder}.site.json`
    await writeFile(file, JSON.stringify(options.site))
    args.push('--site', file)
  }
  const began = performance.now()
  const [command = '', ...words] = [...(options.through ?? []), process.execPath, ...args]
  const child = spawn(command, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
  })
  const log: string[] = []
  createInterface(child.stderr).on('line', (line) => {
    log.push(line)
    if (log.length > 5_000) log.shift()
  })
  const lines = readyLines(child.stdout)
  const first = await Promise.race([
    lines.next(),
    once(child, 'error').then(([error]) => Promise.reject(error as Error)),
  ])
  if (first.done === true) {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    throw new HeadlessEndedError(child.exitCode, log.join('\n'))
  }
  const startedIn = performance.now() - began
  return new Headless({ ready: first.value, folder, child, log, startedIn, lines })
}

/** Reads the `ready` lines of a program, until it closes its stdout. */
export async function* readyLines(stdout: Readable): AsyncGenerator<Ready, void> {
  for await (const line of createInterface(stdout)) {
    if (line.startsWith('ready ')) yield JSON.parse(line.slice(6)) as Ready
  }
}

/** The process ended before it was ready. */
export class HeadlessEndedError extends Error {
  readonly exitCode: number | null
  readonly stderr: string
  constructor(exitCode: number | null, stderr: string) {
    super(`the controller ended with ${exitCode} before it was ready:\n${stderr}`)
    this.exitCode = exitCode
    this.stderr = stderr
  }
}

/** Removes a data folder and its site file. */
export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await rm(`${folder}.site.json`, { force: true })
}
