import { z } from 'zod'
import { unlessAborted } from '../../../../shared/abort.ts'
import { issueToken } from '../../../../shared/files/signed-tokens.ts'
import type { NodeSecretName } from '../../../../shared/node.ts'
import { tokenKinds } from '../../../../shared/tokens.ts'
import { within } from '../../port/deadline.ts'
import type { NodeProgram } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import type { JanusAccess } from '../../secrets/janus-access.ts'
import type { PluginRequests } from './admin-api.ts'
import { isJanusError, janusCodes } from './janus-error.ts'
import type { JanusPlugin } from './janus-handle.ts'
import { JanusSocket } from './janus-socket.ts'

/** Properties of a node and its configuration that change how it is used. */
export interface Traits {
  /** Version of Janus, e.g. `1.1.2`; empty until it was read. */
  version: string
  /** Plugin names without the package name, e.g. `videoroom`. */
  plugins: readonly string[]
  /** Whether rooms admit only holders of a token. */
  guarded: boolean
  /** Whether the node requires the admin key to list private rooms. */
  adminKey: boolean
}

/** Timeout of one query, in milliseconds. */
const askMs = 3_000

/** Reads the configuration of a node, and keeps the result until the node may have restarted. */
export class NodeTraits {
  readonly #access: Pick<JanusAccess, 'wsUrl' | 'secrets' | 'given' | 'leadership'>
  readonly #requests: PluginRequests
  readonly #logger: NodeLogger
  #reading: Promise<Traits> | undefined
  #current: Traits | undefined

  constructor(
    access: Pick<JanusAccess, 'wsUrl' | 'secrets' | 'given' | 'leadership'>,
    requests: PluginRequests,
    logger: NodeLogger,
  ) {
    this.#access = access
    this.#requests = requests
    this.#logger = logger
  }

  /** Returns the traits last read. Before the first reading, they are inferred from the operator's secrets. */
  get current(): Traits {
    if (this.#current !== undefined) return this.#current
    return { version: '', plugins: [], guarded: this.#gave('token_secret'), adminKey: this.#gave('admin_key') }
  }

  /**
   * Returns the traits, and reads them if necessary.
   * @throws NodeError; the signal's reason
   */
  async read(signal: AbortSignal): Promise<Traits> {
    this.#reading ??= within({ milliseconds: askMs }, (inner) => this.#ask(inner)).then(
      (traits) => {
        this.#current = traits
        return traits
      },
      (error: unknown) => {
        this.#reading = undefined
        throw error
      },
    )
    return await unlessAborted(this.#reading, signal)
  }

  /** Makes the next call of `read` query the node again, because it may have restarted. */
  forget(): void {
    this.#reading = undefined
  }

  async #ask(signal: AbortSignal): Promise<Traits> {
    const info = readServerInfo(await this.#requests.info(signal))
    const adminKey = await this.#asksForAdminKey(signal)
    const guarded = await this.#takesTokens(info?.asksForTokens ?? false, signal)
    return { version: info?.version ?? '', plugins: info?.plugins ?? [], adminKey, guarded }
  }

  #gave(name: NodeSecretName): boolean {
    return this.#access.given.includes(name)
  }

  /** Returns whether the node requires the admin key: only then does it reject a wrong key. */
  async #asksForAdminKey(signal: AbortSignal): Promise<boolean> {
    try {
      const request = { request: 'list', admin_key: `not ${this.#access.secrets.admin_key}` }
      await this.#requests.askPlugin('janus.plugin.videoroom', request, signal)
      return false
    } catch (error) {
      if (isJanusError(error, janusCodes.roomUnauthorized)) return true
      throw error
    }
  }

  /**
   * Returns whether the node accepts tokens signed with its token secret. A generated secret has an effect only if it
   * is in the node's configuration. Otherwise, rooms admit every client that the node admits.
   */
  async #takesTokens(asks: boolean, signal: AbortSignal): Promise<boolean> {
    if (this.#gave('token_secret')) return true
    if (!asks) return false
    const { wsUrl: url, secrets, leadership } = this.#access
    const socket = await JanusSocket.open({ url, apiSecret: '', leadership, logger: this.#logger }, signal)
    try {
      const expiresAt = Math.floor((Date.now() + tokenKinds['janus-core'].lifetime.probeMs) / 1_000)
      const token = issueToken('janus-core', secrets.token_secret, { expiresAt })
      const { data } = await socket.request({ janus: 'create', token }, signal)
      if (data !== undefined) await socket.request({ janus: 'destroy', session_id: data.id, token }, signal)
      return true
    } catch (error) {
      if (isJanusError(error, janusCodes.unauthorized)) return false
      throw error
    } finally {
      socket.close()
    }
  }
}

/** Facts that a node reports without authentication. */
interface ServerInfo {
  /** Version of Janus, e.g. `1.1.2`. */
  version: string
  /** Full package names, e.g. `janus.plugin.videoroom`. */
  packages: string[]
  /** Short names without `janus.plugin.`, sorted. */
  plugins: string[]
  /** Whether the node lists its libraries. */
  tellsDependencies: boolean
  /** Whether each message must contain a token. */
  asksForTokens: boolean
}

/** Plugins that rooms and cameras need. */
export const neededPlugins = [
  'janus.plugin.videoroom',
  'janus.plugin.streaming',
] as const satisfies readonly JanusPlugin[]

const infoSchema = z.looseObject({
  janus: z.literal('server_info'),
  version_string: z.string(),
  plugins: z.record(z.string(), z.unknown()).default({}),
  dependencies: z.unknown().optional(),
  auth_token: z.boolean().default(false),
})

/**
 * Parses the answer to `info`, from the WebSocket or the Admin API. Returns undefined if it is not an answer of Janus.
 */
export function readServerInfo(answer: unknown): ServerInfo | undefined {
  const read = infoSchema.safeParse(answer)
  if (!read.success) return undefined
  const { version_string: version, plugins, dependencies, auth_token: asksForTokens } = read.data
  const packages = Object.keys(plugins)
  return {
    version,
    packages,
    plugins: packages.map(shortName).sort(),
    tellsDependencies: dependencies !== undefined,
    asksForTokens,
  }
}

export function shortName(plugin: string): string {
  return plugin.replace(/^janus\.plugin\./, '')
}

/** Facts about a Janus for the console: its version and plugins when last read, and whether its events arrive. */
export class ReportedProgram {
  readonly #traits: Pick<NodeTraits, 'current'>
  readonly #clock: () => number
  readonly #changed: () => void
  #sendsEvents = false
  #eventsSince: number
  /** Traits at the last notification. */
  #shown: Traits | undefined

  /**
   * @param clock returns milliseconds since the epoch
   * @param changed called when the facts changed
   */
  constructor(traits: Pick<NodeTraits, 'current'>, clock: () => number, changed: () => void) {
    this.#traits = traits
    this.#clock = clock
    this.#changed = changed
    this.#eventsSince = clock()
  }

  /** Facts about the program; undefined until its version was read once. */
  get value(): NodeProgram | undefined {
    const { version, plugins } = this.#traits.current
    return version === '' ? undefined : { version, plugins, tells: this.#sendsEvents, eventsSince: this.#eventsSince }
  }

  /** Sets whether events of the node arrive. */
  reporting(tells: boolean): void {
    if (tells === this.#sendsEvents) return
    this.#sendsEvents = tells
    this.#eventsSince = this.#clock()
    this.#changed()
  }

  /** Notifies if the traits differ from the last notification. The node may have restarted with another version. */
  review(): void {
    const { current } = this.#traits
    const { version, plugins } = current
    if (version === '' || (version === this.#shown?.version && plugins.join() === this.#shown.plugins.join())) return
    this.#shown = current
    this.#changed()
  }
}
