import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../../../server/nodes/embedded/free-ports.ts'
import { type Headless, removeFolder, startHeadless } from '../headless.ts'
import { DatabaseProxy } from '../postgres/database-proxy.ts'
import { PostgresServer } from '../postgres/postgres-server.ts'

/** The key pair of the site's clients. */
export const credential = { label: 'Load', access_key: 'load', secret_key: 'load-secret', p2p: true }
const simulated = [{ name: 'lab', kind: 'simulated' }]
const roleMs = 30_000
const betweenMs = 10

export interface SiteOptions {
  /** How many. */
  controllers?: number
  /** Of the tests; left out: one of the site's own. */
  database?: PostgresServer
  /** A crash of the database loses nothing, as in the field; without, it is quicker. */
  durable?: boolean
  /** Each controller reaches the database by a way of its own, which can break. */
  proxied?: boolean
  /** As a site file names them; left out: a simulated one. */
  nodes?: readonly object[]
  /** As a site file names them. */
  settings?: object
  /** Of each controller's process, beside the test's own. */
  env?: NodeJS.ProcessEnv
}

/** One controller of the site: the same data folder and ports, whichever process runs it. */
export interface SiteController {
  /** `a`, `b`, … */
  readonly name: string
  headless: Headless
  readonly proxy: DatabaseProxy | undefined
}

/** Several controllers on one PostgreSQL. */
export class ControllersSite {
  readonly database: PostgresServer
  readonly controllers: SiteController[] = []
  readonly #schema: string
  readonly #ownDatabase: boolean
  readonly #site: object
  readonly #env: NodeJS.ProcessEnv
  /** With a frozen process nothing of it is waited for. */
  readonly #frozen = new Set<SiteController>()

  private constructor(
    database: PostgresServer,
    schema: string,
    { database: given, nodes = simulated, settings = {}, env = {} }: SiteOptions,
  ) {
    this.database = database
    this.#site = { credentials: [credential], nodes, settings }
    this.#env = env
    this.#schema = schema
    this.#ownDatabase = given === undefined
  }

  /** Starts them: the first leads. */
  static async start(options: SiteOptions = {}): Promise<ControllersSite> {
    const { controllers = 3, database, durable, proxied = false } = options
    const server = database ?? (await PostgresServer.start({ durable: durable ?? false }))
    const site = new ControllersSite(server, await server.newSchema(), options)
    try {
      await site.add('a', proxied)
      const others = Array.from({ length: controllers - 1 }, (_, index) => String.fromCharCode(98 + index))
      for (const name of others) await site.add(name, proxied)
    } catch (error) {
      await site.remove()
      throw error
    }
    return site
  }

  /** Waits until one of those that run says that it leads, and no other does. @param except who is not meant, such as the one that led until now */
  async leader(except?: SiteController): Promise<SiteController> {
    const deadline = performance.now() + roleMs
    for (;;) {
      const asked = this.controllers.filter((controller) => controller !== except && this.#runs(controller))
      const roles = await Promise.all(asked.map(roleOf))
      const leads = asked.filter((_, index) => roles[index] === 'leader')
      if (leads.length === 1 && leads[0] !== undefined) return leads[0]
      if (performance.now() > deadline)
        throw new Error(
          `${leads.length === 0 ? 'Nobody' : leads.map(({ name }) => name).join()} leads: ${this.lastWords()}`,
        )
      await sleep(betweenMs)
    }
  }

  /** Ends its process as a crash of its machine does, as far as others see it. Resolves when it is gone. */
  async kill(controller: SiteController): Promise<void> {
    this.#frozen.delete(controller)
    await controller.headless.stop('SIGKILL')
  }

  /** Stops its process where it is, or lets it go on. */
  freeze(controller: SiteController, frozen: boolean): void {
    controller.headless.child.kill(frozen ? 'SIGSTOP' : 'SIGCONT')
    if (frozen) this.#frozen.add(controller)
    else this.#frozen.delete(controller)
  }

  /** Starts one again that was killed, in its folder and on its ports. */
  async restart(controller: SiteController): Promise<void> {
    const { headless, proxy } = controller
    const flags = this.#flags(controller.name, proxy)
    const ports = (['media', 'device', 'node', 'console'] as const).flatMap((name) => [
      `--${name}-port`,
      new URL(headless.ready[name]).port,
    ])
    controller.headless = await startHeadless({
      folder: headless.folder,
      ports: 'settings',
      flags: [...ports, ...flags],
      env: this.#env,
    })
  }

  /** The epoch that is in force: raised by everybody who takes over. */
  async epoch(): Promise<number> {
    const rows = await this.database.query<{ epoch: number }>(
      `select epoch::int as epoch from ${this.#schema}.roomdesk_leader`,
    )
    return rows[0]?.epoch ?? 0
  }

  /** Lines of the journal, by their numbers: with which epoch each was stored. */
  async journal(): Promise<{ seq: number; epoch: number }[]> {
    return await this.database.query(
      `select seq::int as seq, epoch::int as epoch from ${this.#schema}.roomdesk_journal order by seq`,
    )
  }

  /** What the controllers logged last: for the message of a test that fails. */
  lastWords(): string {
    return this.controllers.map(({ name, headless }) => `\n${name}: ${headless.log.slice(-5).join('\n   ')}`).join('')
  }

  /** Ends everything and takes its files away. */
  async remove(): Promise<void> {
    await Promise.all(this.controllers.map(async ({ headless }) => await headless.stop('SIGKILL')))
    await Promise.all(
      this.controllers.map(async ({ headless, proxy }) => {
        await proxy?.close()
        await removeFolder(headless.folder)
      }),
    )
    if (this.#ownDatabase) await this.database.remove()
  }

  /** Starts one more. */
  async add(name: string, proxied = false): Promise<SiteController> {
    const proxy = proxied ? await DatabaseProxy.open(this.database.socket) : undefined
    const folder = await mkdtemp(join(tmpdir(), `roomdesk-${name}-`))
    const flags = this.#flags(name, proxy)
    const [nodePort = 0] = await freePorts({
      host: '127.0.0.1',
      // Files that run at the same time look in different places.
      from: 20_000 + Math.floor(Math.random() * 5_000),
      count: 1,
      taken: this.controllers.map(({ headless }) => Number(new URL(headless.ready.node).port)),
    })
    flags.push('--node-port', String(nodePort))
    const headless = await startHeadless({
      folder,
      flags,
      env: this.#env,
      ...(name === 'a' ? { site: this.#site } : {}),
    })
    const controller = { name, headless, proxy }
    this.controllers.push(controller)
    return controller
  }

  #flags(name: string, proxy: DatabaseProxy | undefined): string[] {
    const store = this.database.address(this.#schema, proxy?.host)
    const first = this.controllers[0]
    const key = first === undefined || name === 'a' ? [] : ['--seal-key', join(first.headless.folder, 'seal.key')]
    return ['--store', store, '--controller-name', name, ...key]
  }

  #runs(controller: SiteController): boolean {
    const { child } = controller.headless
    return !this.#frozen.has(controller) && child.exitCode === null && child.signalCode === null
  }
}

/** What a controller says that it is; undefined: it says nothing. */
export async function roleOf({ headless }: SiteController): Promise<string | undefined> {
  try {
    const response = await fetch(`${headless.ready.console}/healthz`, { signal: AbortSignal.timeout(1_000) })
    const body = (await response.json()) as { role?: string }
    return body.role
  } catch {
    return undefined
  }
}
