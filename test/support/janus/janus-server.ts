import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { type JanusConfiguration, janusConfiguration } from './janus-configuration.ts'

const program = '/usr/bin/janus'
/** Below the kernel's ephemeral ports. */
const ports = { first: 10_000, last: 32_000 }
const usualRtpPorts = 500
const startMs = 15_000
/** Number of log lines shown after a crash. */
const crashLines = 12

/** Options of a Janus. */
export interface JanusServerOptions
  extends Partial<Pick<JanusConfiguration, 'secrets' | 'tokenSecret' | 'eventBackend'>> {
  /** Number of media ports; default: enough for a test. */
  rtpPorts?: number
  /** Changes its configuration files: replaces or adds files by name. */
  files?: (files: Readonly<Record<string, string>>, configuration: JanusConfiguration) => Record<string, string>
  /** File with the trusted certificates; default: those of this machine. */
  trusts?: string | undefined
}

/**
 * A Janus process of its own: a restart keeps its ports and loses its state.
 * Janus 1.1.2 crashes at times: it is then restarted, as systemd does on a site, and the crash is logged.
 */
export class JanusServer implements AsyncDisposable {
  readonly configuration: JanusConfiguration
  readonly folder: string
  readonly #files: Record<string, string>
  readonly #trusts: string | undefined
  #child: ChildProcess | undefined
  /** The test stopped it, or it has not started yet. */
  #stopped = true
  #listens = false
  #log: string[] = []

  constructor(folder: string, configuration: JanusConfiguration, files: Record<string, string>, trusts?: string) {
    this.folder = folder
    this.configuration = configuration
    this.#files = files
    this.#trusts = trusts
  }

  /** URL of its WebSocket API. */
  get wsUrl(): string {
    return `ws://127.0.0.1:${this.configuration.wsPort}`
  }

  /** URL of its HTTP API. */
  get httpUrl(): string {
    return `http://127.0.0.1:${this.configuration.httpPort}/janus`
  }

  /** URL of its Admin API. */
  get adminUrl(): string {
    return `http://127.0.0.1:${this.configuration.adminPort}/admin`
  }

  /** Returns its entry in a site file. */
  asNode(name = 'janus') {
    const { secrets, tokenSecret } = this.configuration
    return {
      name,
      kind: 'janus' as const,
      ws_url: this.wsUrl,
      admin_url: this.adminUrl,
      api_secret: secrets.api,
      admin_secret: secrets.admin,
      admin_key: secrets.adminKey,
      ...(tokenSecret === '' ? {} : { token_secret: tokenSecret }),
    }
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** Last lines of its log. */
  get log(): readonly string[] {
    return this.#log
  }

  /** Replaces configuration files from the next start on. */
  configure(files: Readonly<Record<string, string>>): void {
    Object.assign(this.#files, files)
  }

  /** Starts it without state; resolves when all its transports answer. @throws Error with its output */
  async start(): Promise<void> {
    if (!existsSync(program)) throw new Error('Janus is missing: apt-get install --no-install-recommends janus')
    for (const [name, text] of Object.entries(this.#files)) await writeFile(join(this.folder, name), text)
    const env = { ...process.env, ...(this.#trusts === undefined ? {} : { SSL_CERT_FILE: this.#trusts }) }
    const child = spawn(program, ['-o', '-F', this.folder], { stdio: ['ignore', 'pipe', 'pipe'], env })
    this.#child = child
    this.#log = []
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        this.#log.push(line)
        if (this.#log.length > 2_000) this.#log.shift()
      })
    }
    const orphaned = (): void => void child.kill('SIGKILL')
    process.once('exit', orphaned)
    this.#stopped = false
    child.once('exit', (code, signal) => {
      process.off('exit', orphaned)
      if (this.#stopped || this.#child !== child) return
      console.warn(`Janus ended by itself (${signal ?? code}):\n${this.#log.slice(-crashLines).join('\n')}`)
      if (this.#listens) void this.start().catch(console.error)
    })
    this.#listens = false
    const { wsPort, httpPort, adminPort } = this.configuration
    const signal = AbortSignal.timeout(startMs)
    const text = Object.values(this.#files).join('\n')
    const opened = [wsPort, httpPort, adminPort].filter((port) => text.includes(`port = ${port}`))
    await Promise.all(opened.map((port) => this.#listening(port, child, signal)))
    this.#listens = true
  }

  /** Ends it, with SIGKILL by default; resolves when it has exited. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL'): Promise<void> {
    this.#stopped = true
    const child = this.#child
    if (child?.exitCode !== null || child.signalCode !== null) return
    child.kill(signal)
    await once(child, 'exit')
  }

  /** Kills it and starts it without state. */
  async restart(signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL'): Promise<void> {
    await this.stop(signal)
    await this.start()
  }

  /** Freezes or resumes it; resolves when all its threads have followed. */
  async signal(name: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    this.#child?.kill(name)
    if (name === 'SIGSTOP') while (!(await isStopped(this.pid))) await sleep(5)
  }

  /** Calls a plugin through the Admin API, independent of the tested code. @throws Error with its answer */
  async ask(plugin: 'videoroom' | 'streaming', request: object): Promise<Record<string, unknown>> {
    const { admin } = this.configuration.secrets
    const response = await fetch(this.adminUrl, {
      method: 'POST',
      body: JSON.stringify({
        janus: 'message_plugin',
        transaction: 'test',
        plugin: `janus.plugin.${plugin}`,
        request,
        ...(admin === '' ? {} : { admin_secret: admin }),
      }),
    })
    const answer = (await response.json()) as { response?: Record<string, unknown> }
    if (answer.response === undefined || 'error_code' in answer.response) throw new Error(JSON.stringify(answer))
    return answer.response
  }

  /** Finds a room in its list; undefined if it does not exist. @param roomId its number: names of guarded rooms begin with it */
  async room(roomId: string): Promise<({ room: string } & Record<string, unknown>) | undefined> {
    const { adminKey } = this.configuration.secrets
    const { list } = await this.ask('videoroom', { request: 'list', ...(adminKey && { admin_key: adminKey }) })
    return (list as { room: string }[]).find(({ room }) => room === roomId || room.startsWith(`${roomId}-`))
  }

  /** Lists the ids of a room's participants, in order. @param roomId its number */
  async participants(roomId: string): Promise<string[]> {
    const { room = roomId } = (await this.room(roomId)) ?? {}
    const { participants } = await this.ask('videoroom', { request: 'listparticipants', room })
    return (participants as { id: string }[]).map(({ id }) => id).sort()
  }

  /** Counts the handles of all sessions with this opaque id. */
  async handles(opaqueId: string): Promise<number> {
    let count = 0
    for (const session of (await this.#admin('', 'list_sessions')).sessions as number[]) {
      const { handles = [] } = await this.#admin(`/${session}`, 'list_handles')
      for (const handle of handles as number[]) {
        const { info } = await this.#admin(`/${session}/${handle}`, 'handle_info')
        if ((info as { opaque_id?: string } | undefined)?.opaque_id === opaqueId) count += 1
      }
    }
    return count
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await rm(this.folder, { recursive: true, force: true })
  }

  async #admin(path: string, janus: string): Promise<Record<string, unknown>> {
    const body = JSON.stringify({ janus, transaction: 'test', admin_secret: this.configuration.secrets.admin })
    const response = await fetch(`${this.adminUrl}${path}`, { method: 'POST', body })
    return (await response.json()) as Record<string, unknown>
  }

  async #listening(port: number, child: ChildProcess, signal: AbortSignal): Promise<void> {
    while (!(await accepts(port))) {
      if (child.exitCode !== null || signal.aborted)
        throw new Error(`Janus does not listen at ${port}:\n${this.#log.join('\n')}`)
      await sleep(10)
    }
  }
}

/** Starts a Janus with its own configuration. */
export async function startJanus(options: JanusServerOptions = {}): Promise<JanusServer> {
  const folder = await mkdtemp(join(tmpdir(), 'janus-'))
  const [wsPort = 0, httpPort = 0, adminPort = 0] = await lowPorts(3)
  const { secrets, tokenSecret = '', eventBackend = '', rtpPorts = usualRtpPorts } = options
  const rtpFrom = randomInt(ports.first, ports.last - rtpPorts)
  const configuration: JanusConfiguration = {
    wsPort,
    httpPort,
    adminPort,
    rtpPorts: [rtpFrom, rtpFrom + rtpPorts],
    secrets: secrets ?? { api: 'api secret', admin: 'admin secret', adminKey: 'admin key' },
    tokenSecret,
    eventBackend,
  }
  const files = janusConfiguration(configuration)
  const server = new JanusServer(folder, configuration, options.files?.(files, configuration) ?? files, options.trusts)
  try {
    await server.start()
  } catch (error) {
    await server[Symbol.asyncDispose]()
    throw error
  }
  return server
}

/** Tells whether all its threads are stopped (proc(5)). */
async function isStopped(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`)
  const states = await Promise.all(threads.map((id) => readFile(`/proc/${pid}/task/${id}/stat`, 'latin1')))
  return states.every((state) => /\) [Tt] /.test(state))
}

/** Finds ports of 127.0.0.1 without a listener. */
async function lowPorts(count: number): Promise<number[]> {
  const found = new Set<number>()
  while (found.size < count) {
    const port = randomInt(ports.first, ports.last)
    if (await isFree(port)) found.add(port)
  }
  return [...found]
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}

/** Tells whether it answers HTTP, with any status: a Janus that has just begun to listen closes connections. */
async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1').setTimeout(1_000, () => socket.destroy())
  try {
    socket.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`)
    const [answered] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown]
    return Buffer.isBuffer(answered)
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
