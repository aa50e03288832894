import type { FromPerson } from '../../../shared/media/signal.ts'
import { RateLimit } from '../../../shared/rate-limit.ts'

/**
 * Maximum number of messages per window: 100 a second on average. All may come at once, because candidates for a full
 * room come in bursts.
 */
const maxMessages = 600
const windowMs = 6_000
/** Costs, in messages, of types that are sent to the whole room or affect every stream in it; other types cost 1. */
const costs: Partial<Record<FromPerson['type'], number>> = {
  chat: 4,
  state: 4,
  mute: 4,
  remove: 4,
  shown: 4,
  hand: 20,
  react: 10,
  lower_hand: 4,
  mute_all: 100,
  lock: 20,
  invite: 20,
  record: 20,
  let_in: 4,
}
/** Key of the only counter. */
const messages = 'messages'

/** Limits the messages received on one signalling connection. Each method returns false if the limit is exceeded. */
export class MessageLimit {
  readonly #limit = new RateLimit({ max: maxMessages, windowMs, remembered: 1 })

  /** Counts a message of any kind, including pings. */
  take(): boolean {
    return this.#limit.take(messages)
  }

  /** Counts the rest of a parsed message's cost, of which `take` has counted 1. */
  takeCostOf({ type }: FromPerson): boolean {
    let isWithin = true
    for (let count = 1; count < (costs[type] ?? 1); count++) isWithin = this.take() && isWithin
    return isWithin
  }
}
