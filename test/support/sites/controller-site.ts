import { once } from 'node:events'
import { mkdtemp, readFile } from 'node:fs/promises'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { Controller } from '../../../server/controller/controller.ts'
import type { ControllerOptions } from '../../../server/controller/options.ts'
import { siteFileSchema } from '../../../shared/site-file.ts'
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../../../shared/console/contract.ts'
import type { ConsoleResult } from '../../../shared/domain/outcome.ts'
import type { Role } from '../../../shared/domain/roles.ts'
import { ApiClient } from '../api-client.ts'
import { removeFolder } from '../headless.ts'
import { begunCookie, bothHalves } from '../page-session.ts'

/** Served as the console; these tests do not open it. */
const consolePage = join(import.meta.dirname, '../media/page')

/** Password of the accounts that `create` makes. */
export const password = 'correct horse battery'

/** An answer of the console port. */
export interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  body: unknown
}

/** Opens a controller that stops with the test. @param site content of a site file */
export async function controllerSite(
  site?: unknown,
  options: Partial<ControllerOptions> = {},
): Promise<ControllerSite> {
  const opened = await openControllerSite(site, options)
  onTestFinished(() => opened.remove())
  return opened
}

/** Opens a controller that its test file removes. @param site content of a site file */
export async function openControllerSite(
  site?: unknown,
  options: Partial<ControllerOptions> = {},
): Promise<ControllerSite> {
  return new ControllerSite(await openController({ consolePage, ...options }, site))
}

/** A controller that runs in this process. */
export interface OpenedController {
  folder: string
  controller: Controller
  /** Warnings and errors that it logged. */
  logged: string[]
}

/**
 * Starts a controller in this process, with all its ports on free ones.
 * @param options deviations from the defaults; without a data folder, it gets a new one, which is removed if the start fails
 */
export async function openController(
  options: Partial<ControllerOptions> = {},
  site?: unknown,
): Promise<OpenedController> {
  const folder = options.dataFolder ?? (await mkdtemp(join(tmpdir(), 'roomdesk-controller-')))
  const logged: string[] = []
  try {
    const controller = await Controller.open({
      dataFolder: folder,
      logger: pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) }),
      version: 'test',
      site: site === undefined ? undefined : siteFileSchema.parse(site),
      // Hashes cheaply: with the cost of production, each sign-in of a test takes as long as a real one.
      passwordCost: { ln: 8, r: 8, p: 1 },
      ...options,
      overrides: { media_port: 0, device_port: 0, node_port: 0, console_port: 0, ...options.overrides },
    })
    await controller.start()
    return { folder, controller, logged }
  } catch (error) {
    if (options.dataFolder === undefined) await removeFolder(folder)
    throw error
  }
}

/** A controller in this process with its console port, as browsers and scripts use it. */
export class ControllerSite {
  readonly folder: string
  #controller: Controller

  constructor({ folder, controller }: OpenedController) {
    this.folder = folder
    this.#controller = controller
  }

  /** Address of the console port. */
  get url(): string {
    return this.#controller.listeners.url('console')
  }

  /** A client of both APIs. */
  async client(credential: { access_key: string; secret_key: string }): Promise<ApiClient> {
    const urls = { media: this.#controller.listeners.url('media'), device: this.#controller.listeners.url('device') }
    const client = new ApiClient(urls, credential)
    await client.authenticate()
    return client
  }

  /** Reads the console key. */
  async key(): Promise<string> {
    return (await readFile(join(this.folder, 'console.key'), 'utf8')).trim()
  }

  /** Sends a request from an address of this machine: 127.0.0.2 counts as another client than 127.0.0.1. */
  async ask(
    method: string,
    path: string,
    {
      headers = {},
      body,
      from = '127.0.0.1',
    }: { headers?: http.OutgoingHttpHeaders; body?: unknown; from?: string } = {},
  ): Promise<Answer> {
    const sent = http.request(`${this.url}${path}`, { method, headers, agent: false, localAddress: from })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
    const text = await json(response).catch(() => undefined)
    return { status: response.statusCode ?? 0, headers: response.headers, body: text }
  }

  /** Signs in and returns the session's cookie. */
  async signIn(name: string, secret = password, from?: string): Promise<string> {
    const { status, headers } = await this.offer({ name, password: secret }, from)
    if (status !== 204) throw new Error(`signing in as ${name}: HTTP ${status}`)
    return begunCookie(headers)
  }

  /** Requests a session. */
  offer(body: object, from = '127.0.0.1'): Promise<Answer> {
    return this.ask('POST', '/session', { body, from })
  }

  /** Calls a procedure with a cookie or a bearer token. */
  async result<N extends ProcedureName>(
    who: string,
    name: N,
    input: ProcedureInput<N>,
  ): Promise<ConsoleResult<ProcedureOutput<N>> & { status: number }> {
    const headers = who.startsWith('roomdesk_session=') ? bothHalves(who) : { authorization: `Bearer ${who}` }
    const { status, body } = await this.ask('POST', `/rpc/${name}`, { headers, body: input ?? {} })
    return { ...(body as ConsoleResult<ProcedureOutput<N>>), status }
  }

  /** Calls a procedure and throws if it fails. */
  async call<N extends ProcedureName>(who: string, name: N, input: ProcedureInput<N>): Promise<ProcedureOutput<N>> {
    const result = await this.result(who, name, input)
    if (!result.ok) throw new Error(`${name}: ${result.error.code}: ${result.error.message}`)
    return result.value
  }

  /** Creates an account with the console key. */
  async create(name: string, role: Role): Promise<ProcedureOutput<'accounts.create'>> {
    return await this.call(await this.key(), 'accounts.create', { name, role, password })
  }

  /** Opens a console's WebSocket. */
  async connect(cookie: string): Promise<WebSocket> {
    const socket = new WebSocket(`${this.url.replace('http', 'ws')}/ws`, {
      headers: { ...bothHalves(cookie), origin: this.url },
    })
    await once(socket, 'open')
    return socket
  }

  /** Restarts it on the same folder. */
  async restart(site?: unknown, options: Partial<ControllerOptions> = {}): Promise<void> {
    await this.#controller.stop(0)
    const { controller } = await openController({ consolePage, ...options, dataFolder: this.folder }, site)
    this.#controller = controller
  }

  /** Stops it and removes its folder. */
  async remove(): Promise<void> {
    await this.#controller.stop(0)
    await removeFolder(this.folder)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove()
  }
}
