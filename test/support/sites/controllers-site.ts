import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../../../server/nodes/embedded/proposed-nodes.ts'
import type { Machine, MachineNetwork } from '../network/machine-network.ts'
import { type Headless, removeFolder, startHeadless } from '../headless.ts'
import { DatabaseProxy } from '../postgres/database-proxy.ts'
import { PostgresServer } from '../postgres/postgres-server.ts'

/** The key pair of the site's clients. */
export const credential = { label: 'Load', access_key: 'load', secret_key: 'load-secret', p2p: true }
const simulated = [{ name: 'lab', kind: 'simulated' }]
const roleMs = 30_000
const betweenMs = 10

export interface SiteOptions {
  /** Number of controllers. */
  controllers?: number
  /** Database of the tests; default: one of the site's own. */
  database?: PostgresServer
  /** A crash of the database loses nothing, as in production; without, it is faster. */
  durable?: boolean
  /** Gives each controller its own proxy of the database, which can break. */
  proxied?: boolean
  /** Nodes as in a site file; default: a simulated one. */
  nodes?: readonly object[]
  /** Settings as in a site file. */
  settings?: object
  /** Environment of each controller's process, beside the test's own. */
  env?: NodeJS.ProcessEnv
  /** The built controller; default: that of this checkout. */
  program?: string
  /** Gives each controller a machine of its own on this network, with the database at its address. */
  network?: MachineNetwork
}

/** One controller of the site: it keeps its data folder and ports across processes. */
export interface SiteController {
  /** `a`, `b`, … */
  readonly name: string
  headless: Headless
  /** Its ready line lacks this port while its node is starting. */
  readonly nodePort: number
  readonly proxy: DatabaseProxy | undefined
  readonly machine: Machine | undefined
}

/** Several controllers on one PostgreSQL. */
export class ControllersSite {
  readonly database: PostgresServer
  readonly controllers: SiteController[] = []
  /** Controllers that clients are not sent to, as by a load balancer. */
  readonly drained = new Set<SiteController>()
  readonly #schema: string
  readonly #ownDatabase: boolean
  readonly #site: object
  readonly #env: NodeJS.ProcessEnv
  readonly #network: MachineNetwork | undefined
  #program: { program?: string }
  /** Frozen processes, whose exit is not awaited. */
  readonly #frozen = new Set<SiteController>()

  private constructor(
    database: PostgresServer,
    schema: string,
    { database: given, nodes = simulated, settings = {}, env = {}, program, network }: SiteOptions,
  ) {
    this.database = database
    this.#site = { credentials: [credential], nodes, settings }
    this.#env = env
    this.#network = network
    this.#program = program === undefined ? {} : { program }
    this.#schema = schema
    this.#ownDatabase = given === undefined
  }

  /** Starts them: the first leads. */
  static async start(options: SiteOptions = {}): Promise<ControllersSite> {
    const { controllers = 3, database, durable, proxied = false, network } = options
    const listen = network === undefined ? {} : { listen: network.address }
    const server = database ?? (await PostgresServer.start({ durable: durable ?? false, ...listen }))
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

  /** Address of its database. */
  get address(): string {
    return this.database.address(this.#schema)
  }

  /** Runs a statement on its tables. */
  async query<R extends object>(text: string): Promise<R[]> {
    return await this.database.query<R>(text.replaceAll('roomdesk_', `${this.#schema}.roomdesk_`))
  }

  /** Waits until exactly one running controller leads. @param except a controller that does not count, such as the previous leader */
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

  /** Kills its process; to the others this looks like a crash of its machine. Resolves when the process has exited. */
  async kill(controller: SiteController): Promise<void> {
    this.#frozen.delete(controller)
    await controller.headless.stop('SIGKILL')
  }

  /** Stops it in order, and starts it again in its folder and on its ports as another version from now on. @param program left out: that of this checkout */
  async upgrade(controller: SiteController, program?: string): Promise<void> {
    await controller.headless.stop('SIGTERM')
    this.#program = program === undefined ? {} : { program }
    await this.restart(controller)
  }

  /** Freezes or resumes its process. */
  freeze(controller: SiteController, frozen: boolean): void {
    controller.headless.child.kill(frozen ? 'SIGSTOP' : 'SIGCONT')
    if (frozen) this.#frozen.add(controller)
    else this.#frozen.delete(controller)
  }

  /** Starts a killed controller again, in its folder and on its ports. */
  async restart(controller: SiteController): Promise<void> {
    const { headless, proxy, machine } = controller
    const flags = this.#flags(controller.name, proxy, machine)
    const ports = (['media', 'device', 'node', 'console'] as const).flatMap((name) => [
      `--${name}-port`,
      new URL(headless.ready[name]).port,
    ])
    controller.headless = await startHeadless({
      folder: headless.folder,
      ports: 'settings',
      flags: [...ports, ...flags],
      env: this.#env,
      ...(machine === undefined ? {} : { through: machine.through }),
      ...this.#program,
    })
  }

  /** Reads the current epoch: every takeover increments it. */
  async epoch(): Promise<number> {
    const rows = await this.database.query<{ epoch: number }>(
      `select epoch::int as epoch from ${this.#schema}.roomdesk_leader`,
    )
    return rows[0]?.epoch ?? 0
  }

  /** Reads the lines of the journal, by number, with the epoch that stored each. */
  async journal(): Promise<{ seq: number; epoch: number }[]> {
    return await this.database.query(
      `select seq::int as seq, epoch::int as epoch from ${this.#schema}.roomdesk_journal order by seq`,
    )
  }

  /** Last log lines of the controllers, for the message of a failed test. */
  lastWords(): string {
    return this.controllers.map(({ name, headless }) => `\n${name}: ${headless.log.slice(-5).join('\n   ')}`).join('')
  }

  /** Ends everything and removes its files. */
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

  /** Starts a further controller. */
  async add(name: string, proxied = false): Promise<SiteController> {
    const proxy = proxied ? await DatabaseProxy.open(this.database.socket) : undefined
    const folder = await mkdtemp(join(tmpdir(), `roomdesk-${name}-`))
    const machine = await this.#network?.add()
    const flags = this.#flags(name, proxy, machine)
    const [nodePort = 0] = await freePorts({
      host: '127.0.0.1',
      // Test files that run at the same time search different ranges.
      from: 20_000 + Math.floor(Math.random() * 5_000),
      count: 1,
      taken: this.controllers.map((controller) => controller.nodePort),
    })
    flags.push('--node-port', String(nodePort))
    const headless = await startHeadless({
      folder,
      flags,
      env: this.#env,
      ...(machine === undefined ? {} : { through: machine.through }),
      ...this.#program,
      ...(name === 'a' ? { site: this.#site } : {}),
    })
    const controller = { name, headless, nodePort, proxy, machine }
    this.controllers.push(controller)
    return controller
  }

  #flags(name: string, proxy: DatabaseProxy | undefined, machine: Machine | undefined): string[] {
    const { database } = this
    const at = machine === undefined ? proxy?.host : `${this.#network?.address}:${database.port}`
    const store = database.address(this.#schema, at)
    const host = machine === undefined ? [] : ['--host', machine.address]
    const first = this.controllers[0]
    const key = first === undefined || name === 'a' ? [] : ['--seal-key', join(first.headless.folder, 'seal.key')]
    return ['--store', store, '--controller-name', name, ...host, ...key]
  }

  #runs(controller: SiteController): boolean {
    const { child } = controller.headless
    return !this.#frozen.has(controller) && child.exitCode === null && child.signalCode === null
  }
}

/** The machine of a controller of a site with a network. @throws Error where it has none of its own */
export function machineOf({ machine }: SiteController): Machine {
  if (machine === undefined) throw new Error('It has no machine of its own.')
  return machine
}

/** Reads the role that a controller reports; undefined: no answer. */
export async function roleOf({ headless }: SiteController): Promise<string | undefined> {
  try {
    const response = await fetch(`${headless.ready.console}/healthz`, { signal: AbortSignal.timeout(1_000) })
    const body = (await response.json()) as { role?: string }
    return body.role
  } catch {
    return undefined
  }
}
