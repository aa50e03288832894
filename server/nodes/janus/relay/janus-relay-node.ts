import type { NodeLogger } from '../../node-failure.ts'
import type { JanusSession } from '../janus-session.ts'
import type { JanusAccess } from '../node-access.ts'
import { ownCoreToken } from '../signed-token.ts'
import type { RelayIds } from './relay-ids.ts'
import type { RelayNode, RelayParticipant } from './relay-node.ts'
import type { RelayParticipants } from './relay-participants.ts'
import { RelaySession } from './relay-session.ts'

/** How long a token of ours counts: each is used once, but clocks differ. */
const tokenSeconds = 3_600
/** How long the end of its session may take, in milliseconds. */
const endMs = 2_000

/** A Janus node as relays use it: a session of their own, and what its rooms do for them. */
export class JanusRelayNode implements RelayNode {
  readonly name: string
  readonly ids: RelayIds
  readonly #session: RelaySession
  readonly #participants: RelayParticipants

  constructor(
    { name, wsUrl, secrets, confirmed }: Pick<JanusAccess, 'name' | 'wsUrl' | 'secrets' | 'confirmed'>,
    parts: { ids: RelayIds; participants: RelayParticipants; logger: NodeLogger },
  ) {
    this.name = name
    this.ids = parts.ids
    this.#participants = parts.participants
    const { api_secret: apiSecret, token_secret } = secrets
    const token = (): string => ownCoreToken(token_secret, Math.ceil(Date.now() / 1_000) + tokenSeconds)
    this.#session = new RelaySession({
      url: wsUrl,
      apiSecret,
      token: token_secret === '' ? undefined : token,
      confirmed,
      logger: parts.logger,
    })
  }

  session(signal: AbortSignal): Promise<JanusSession> {
    return this.#session.get(signal)
  }

  answers(): Promise<boolean> {
    return this.#session.answers()
  }

  admit(participant: RelayParticipant, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    return this.#participants.admit(participant, signal)
  }

  release(participant: RelayParticipant, signal: AbortSignal): Promise<void> {
    return this.#participants.release(participant, signal)
  }

  clear(participant: RelayParticipant, signal: AbortSignal): Promise<void> {
    return this.#participants.clear(participant, signal)
  }

  /** Its relays end. Never rejects. */
  close(): Promise<void> {
    return this.#session.close(AbortSignal.timeout(endMs))
  }
}
