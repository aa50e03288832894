import type { NodeSecretName } from '../../../shared/node.ts'
import { unlessAborted, within } from '../deadline.ts'
import type { PluginRequests } from './admin-api.ts'
import { isJanusError, janusCodes } from './janus-error.ts'
import type { JanusAccess } from './node-access.ts'

/** What a node was configured with, as far as it changes how it is used. */
export interface Traits {
  /** Rooms let only those in who have a token. */
  guarded: boolean
  /** It asks for the admin key, and so lists private rooms to who has it. */
  adminKey: boolean
}

/** What the two questions may take, in milliseconds. */
const askMs = 3_000

/** Finds out what a node was configured with; asked once until the node may have been started anew. */
export class NodeTraits {
  readonly #access: Pick<JanusAccess, 'secrets' | 'given'>
  readonly #requests: PluginRequests
  #reading: Promise<Traits> | undefined
  #current: Traits | undefined

  constructor(access: Pick<JanusAccess, 'secrets' | 'given'>, requests: PluginRequests) {
    this.#access = access
    this.#requests = requests
  }

  /** As they were read last; as the operator's secrets have it until then. */
  get current(): Traits {
    return this.#current ?? { guarded: this.#gave('token_secret'), adminKey: this.#gave('admin_key') }
  }

  /** Reads them unless they are known. @throws NodeError; the signal's reason */
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

  /** The node may be another one by now. */
  forget(): void {
    this.#reading = undefined
  }

  async #ask(signal: AbortSignal): Promise<Traits> {
    return { adminKey: await this.#asksForAdminKey(signal), guarded: await this.#asksForTokens(signal) }
  }

  #gave(name: NodeSecretName): boolean {
    return this.#access.given.includes(name)
  }

  /** A wrong key is refused only where one is asked for. */
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

  /** A secret that was made counts once the node was told it: until then its rooms are as open as the node is. */
  async #asksForTokens(signal: AbortSignal): Promise<boolean> {
    if (this.#gave('token_secret')) return true
    if (this.#access.secrets.token_secret === '') return false
    const { auth_token: asks } = await this.#requests.info(signal)
    return asks === true
  }
}
