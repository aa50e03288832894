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
import { siteFileSchema } from '../../../server/controller/site-file.ts'
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../../../shared/console/contract.ts'
import type { ConsoleResult } from '../../../shared/console/procedure.ts'
import type { Role } from '../../../shared/console/role-names.ts'
import { removeFolder } from '../../support/headless.ts'

export const password = 'correct horse battery'

/** An answer of the console port. */
export interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  body: unknown
}

/** A controller with its console port, as browsers and scripts meet it. */
export class AccountSite {
  readonly folder: string
  #controller: Controller

  constructor(folder: string, controller: Controller) {
    this.folder = folder
    this.#controller = controller
  }

  get url(): string {
    return this.#controller.url('console')
  }

  async key(): Promise<string> {
    return (await readFile(join(this.folder, 'console.key'), 'utf8')).trim()
  }

  /** Sends a request from an address of this machine's own: 127.0.0.2 is another client than 127.0.0.1. */
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
    return headers['set-cookie']?.[0]?.split(';')[0] ?? ''
  }

  offer(body: object, from = '127.0.0.1'): Promise<Answer> {
    return this.ask('POST', '/session', { body, from })
  }

  /** Calls a procedure with what shows who calls: a cookie, or a bearer token. */
  async result<N extends ProcedureName>(
    who: string,
    name: N,
    input: ProcedureInput<N>,
  ): Promise<ConsoleResult<ProcedureOutput<N>> & { status: number }> {
    const headers = who.startsWith('roomdesk_session=') ? { cookie: who } : { authorization: `Bearer ${who}` }
    const { status, body } = await this.ask('POST', `/rpc/${name}`, { headers, body: input ?? {} })
    return { ...(body as ConsoleResult<ProcedureOutput<N>>), status }
  }

  /** Calls a procedure that must succeed. */
  async call<N extends ProcedureName>(who: string, name: N, input: ProcedureInput<N>): Promise<ProcedureOutput<N>> {
    const result = await this.result(who, name, input)
    if (!result.ok) throw new Error(`${name}: ${result.error.code}: ${result.error.message}`)
    return result.value
  }

  /** Makes an account with the console key. */
  async create(name: string, role: Role): Promise<ProcedureOutput<'accounts.create'>> {
    return await this.call(await this.key(), 'accounts.create', { name, role, password })
  }

  /** A console's connection, once it is open. */
  async connect(cookie: string): Promise<WebSocket> {
    const socket = new WebSocket(`${this.url.replace('http', 'ws')}/ws`, { headers: { cookie, origin: this.url } })
    await once(socket, 'open')
    return socket
  }

  /** Stops it and starts it again on the same folder. */
  async restart(site?: unknown, options: Partial<ControllerOptions> = {}): Promise<void> {
    await this.#controller.stop(0)
    this.#controller = await open(this.folder, site, options)
  }

  async stop(): Promise<void> {
    await this.#controller.stop(0)
    await removeFolder(this.folder)
  }
}

/** Opens one that goes with the test. */
export async function accountSite(site?: unknown, options: Partial<ControllerOptions> = {}): Promise<AccountSite> {
  const opened = await openAccountSite(site, options)
  onTestFinished(() => opened.stop())
  return opened
}

/** Opens one that its test file stops. */
export async function openAccountSite(site?: unknown, options: Partial<ControllerOptions> = {}): Promise<AccountSite> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-accounts-'))
  return new AccountSite(folder, await open(folder, site, options))
}

async function open(folder: string, site: unknown, options: Partial<ControllerOptions> = {}): Promise<Controller> {
  const controller = await Controller.open({
    dataFolder: folder,
    logger: pino({ level: 'silent' }),
    version: 'test',
    site: site === undefined ? undefined : siteFileSchema.parse(site),
    overrides: { media_port: 0, device_port: 0, node_port: 0, console_port: 0 },
    consolePage: folder,
    // A hash that is worth something would make each sign-in of a test as slow as a real one.
    passwordCost: { ln: 8, r: 8, p: 1 },
    ...options,
  })
  await controller.start()
  return controller
}
