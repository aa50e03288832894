import type { OverviewView } from '../../shared/console/site.ts'
import type { Settings } from '../../shared/settings.ts'
import { portOfUrl, reachableUrls } from '../edge/network-addresses.ts'
import type { EdgeServer } from '../edge/server.ts'
import type { TlsMaterial } from '../edge/tls.ts'

export const listenerNames = ['media', 'device', 'node', 'console', 'event'] as const
export type ListenerName = (typeof listenerNames)[number]

/** A listener whose port can be changed. */
export interface Port {
  start(host: string, port: number, tls: TlsMaterial | undefined): Promise<void>
  stop(deadlineMs: number): Promise<void>
  /** Hands the port over to its next owner (see KeptPorts). If absent or false, the listener must be stopped. */
  letGo?(): boolean
  /** Sets the certificate for new connections; open connections are unaffected. Requires a listener with TLS. */
  secure(tls: TlsMaterial): Promise<void>
  /** URL of the listener; empty: the port is closed. */
  readonly url: string
  connections(): number | Promise<number>
}

/** Returns a server as one of the controller's ports. */
export function portOf(server: Pick<EdgeServer, 'start' | 'stop' | 'letGo' | 'secure' | 'url' | 'connections'>): Port {
  return {
    async start(host, port, tls) {
      await server.start({ host, port, tls })
    },
    stop: (deadlineMs) => server.stop(deadlineMs),
    letGo: () => server.letGo(),
    secure: async (tls) => server.secure(tls),
    connections: () => server.connections,
    get url() {
      return server.url
    },
  }
}

/** Hosts and ports from flags, which override the settings. */
export interface ListenerOverrides {
  host?: string | undefined
  media_port?: number | undefined
  device_port?: number | undefined
  node_port?: number | undefined
  console_port?: number | undefined
  event_port?: number | undefined
}

interface Place {
  host: string
  /** Port number; null: the port must be closed. */
  port: number | null
  tls: TlsMaterial | undefined
}

/** Returns the flag that sets a listener's port, for messages. */
export const portFlag = (name: string): string => `--${name}-port`

/**
 * The controller's listeners. A change of the settings moves only the affected listeners. If a listener cannot be
 * moved, all return to their previous addresses.
 */
export class Listeners {
  readonly #ports: Partial<Record<ListenerName, Port>>
  readonly #overrides: ListenerOverrides
  readonly #places = new Map<ListenerName, Place>()
  /** Error and time of each listener that could not be started. */
  readonly #errors = new Map<ListenerName, { message: string; at: number }>()
  readonly #changed: () => void
  /** Returns whether the settings require a listener. */
  readonly #isWanted: (name: ListenerName, settings: Settings) => boolean
  /**
   * Port numbers chosen by the system, in this process or the previous process. A restart of a listener uses the same
   * number.
   */
  readonly #picked: Map<string, number>

  constructor(
    ports: Partial<Record<ListenerName, Port>>,
    overrides: ListenerOverrides,
    changed: () => void,
    before: Partial<Record<ListenerName, number>> = {},
    isWanted: (name: ListenerName, settings: Settings) => boolean = () => true,
  ) {
    this.#ports = ports
    this.#overrides = overrides
    this.#changed = changed
    this.#isWanted = isWanted
    this.#picked = new Map(Object.entries(before))
  }

  /**
   * Starts all listeners, or the named listeners.
   * @throws ListenError; in this case, all of them are closed
   */
  async start(
    settings: Settings,
    tls: TlsMaterial | undefined,
    names: readonly ListenerName[] = listenerNames,
  ): Promise<void> {
    const started: ListenerName[] = []
    try {
      for (const name of this.#names().filter((each) => names.includes(each))) {
        await this.#startAnywhere(name, settings, tls)
        started.push(name)
      }
    } catch (error) {
      for (const name of started) await this.#ports[name]?.stop(0)
      throw error
    }
  }

  /** Whether a flag overrides the port of the settings. */
  isPortFixed(name: ListenerName): boolean {
    return this.#overrides[`${name}_port`] !== undefined
  }

  /** Returns the names of the listeners that these settings would move. */
  moved(settings: Settings, tls: TlsMaterial | undefined): ListenerName[] {
    return this.#names().filter((name) => !samePlace(this.#places.get(name), this.#wanted(name, settings, tls)))
  }

  /**
   * Moves the listeners whose address in the settings has changed; a changed certificate moves no listener.
   * @throws ListenError; in this case, all listeners keep their previous addresses
   */
  async apply(settings: Settings, tls: TlsMaterial | undefined): Promise<void> {
    const moved = this.moved(settings, tls)
    if (moved.length === 0) return await this.secure(tls)
    const before = new Map(this.#places)
    const deadline = settings.deadlines.shutdown_ms
    await Promise.all(moved.map(async (name) => this.#ports[name]?.stop(deadline)))
    try {
      for (const name of moved) await this.#start(name, this.#wanted(name, settings, tls))
      await this.secure(tls)
    } catch (error) {
      for (const name of moved) {
        await this.#ports[name]?.stop(0)
        const place = before.get(name)
        if (place !== undefined) await this.#start(name, place).catch((reason: unknown) => this.#fail(name, reason))
      }
      throw error
    } finally {
      this.#changed()
    }
  }

  /** Sets the certificate of listeners with TLS; open connections are unaffected. */
  async secure(tls: TlsMaterial | undefined): Promise<void> {
    for (const [name, place] of this.#places) {
      if (tls === undefined || place.tls === undefined || sameMaterial(place.tls, tls)) continue
      this.#places.set(name, { ...place, tls })
      if (this.url(name) !== '') await this.#ports[name]?.secure(tls)
    }
  }

  /** Returns the number of open connections per listener, without listeners that fail to report a number. */
  async connections(): Promise<Partial<Record<ListenerName, number>>> {
    const counted = await Promise.allSettled(
      this.#names().map(async (name) => [name, (await this.#ports[name]?.connections()) ?? 0] as const),
    )
    return Object.fromEntries(counted.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])))
  }

  /** Restarts the two API listeners at their current addresses. */
  async restart(deadlineMs: number): Promise<void> {
    for (const name of ['media', 'device'] as const) {
      const place = this.#places.get(name)
      if (place === undefined) continue
      await this.#ports[name]?.stop(deadlineMs)
      await this.#start(name, place).catch((reason: unknown) => this.#fail(name, reason))
    }
    this.#changed()
  }

  /** Stops all listeners, the node port last, because requests under way on other ports may need it. */
  async stop(deadlineMs: number): Promise<void> {
    const others = this.#names().filter((name) => name !== 'node')
    await Promise.all(others.map(async (name) => this.#ports[name]?.stop(deadlineMs)))
    await this.#ports.node?.stop(deadlineMs)
  }

  /** Leaves the ports to their next owner; closes ports that cannot be left open. */
  async letGo(): Promise<void> {
    const closed = this.#names().filter((name) => this.#ports[name]?.letGo?.() !== true)
    await Promise.all(closed.map(async (name) => this.#ports[name]?.stop(0)))
  }

  url(name: ListenerName): string {
    return this.#ports[name]?.url ?? ''
  }

  /** Returns the port numbers of open listeners, by name. */
  numbers(): Partial<Record<ListenerName, number>> {
    const listening = this.#names().filter((name) => this.url(name) !== '')
    return Object.fromEntries(listening.map((name) => [name, portOfUrl(this.url(name))]))
  }

  /** Returns the port numbers of open listeners. */
  ports(): number[] {
    const urls = this.#names().map((name) => this.url(name))
    return urls.filter((url) => url !== '').map(portOfUrl)
  }

  views(): OverviewView['listeners'] {
    const wanted = this.#names().filter((name) => this.#places.get(name)?.port !== null)
    return wanted.map((name) => {
      const url = this.url(name)
      const { message: error, at } = this.#errors.get(name) ?? { message: '', at: 0 }
      const state = url !== '' ? 'listening' : error !== '' ? 'failed' : 'stopped'
      return { name, state, url, urls: reachableUrls(url, this.#places.get(name)?.host ?? ''), error, failed_at: at }
    })
  }

  #names(): ListenerName[] {
    return listenerNames.filter((name) => this.#ports[name] !== undefined)
  }

  /**
   * Starts a listener at its configured port. If the system chose the port and its previous number is occupied, the
   * system chooses another number.
   */
  async #startAnywhere(name: ListenerName, settings: Settings, tls: TlsMaterial | undefined): Promise<void> {
    const wanted = this.#wanted(name, settings, tls)
    try {
      await this.#start(name, wanted)
    } catch (error) {
      const taken = this.#picked.delete(name)
      const other = this.#wanted(name, settings, tls)
      if (!taken || other.port === wanted.port) throw error
      await this.#start(name, other)
    }
  }

  async #start(name: ListenerName, place: Place): Promise<void> {
    if (place.port !== null) await this.#ports[name]?.start(place.host, place.port, place.tls)
    const port = place.port === 0 ? portOfUrl(this.url(name)) : place.port
    if (place.port === 0) this.#picked.set(name, portOfUrl(this.url(name)))
    else if (port !== this.#picked.get(name)) this.#picked.delete(name)
    this.#places.set(name, { ...place, port })
    this.#errors.delete(name)
  }

  #fail(name: ListenerName, reason: unknown): void {
    const message = reason instanceof Error ? reason.message : 'It could not be started.'
    this.#errors.set(name, { message, at: this.#errors.get(name)?.at ?? Date.now() })
  }

  #wanted(name: ListenerName, settings: Settings, tls: TlsMaterial | undefined): Place {
    const setting = `${name}_port` as const
    const port = this.#isWanted(name, settings) ? (this.#overrides[setting] ?? settings.listeners[setting]) : null
    return {
      host: this.#overrides.host ?? settings.listeners.host,
      port: port === 0 ? (this.#picked.get(name) ?? 0) : port,
      tls,
    }
  }
}

function samePlace(one: Place | undefined, other: Place): boolean {
  if (other.port === null) return one === undefined || one.port === null
  return one?.host === other.host && one.port === other.port && (one.tls === undefined) === (other.tls === undefined)
}

function sameMaterial(one: TlsMaterial, other: TlsMaterial): boolean {
  return one.cert === other.cert && one.key === other.key
}
