import { z } from 'zod'
import { moment } from '../domain/outcome.ts'

/** Refused call that only clients of the original platform make. */
const refusedCall = z.strictObject({
  /** The setting in `compatibility` that would allow it. */
  setting: z.enum(['older_clients', 'get_access_token']),
  operation: z.string(),
  path: z.string(),
  /** All clients use this operation, but the parameters are those of older clients. */
  by_parameters: z.boolean(),
  client: z.string(),
  /** access_key; empty if none was sent. */
  credential: z.string(),
  count: z.int(),
  first_at: moment,
  last_at: moment,
})
export type RefusedCall = z.output<typeof refusedCall>

/** Client refused by a switch. */
export const refusedClient = refusedCall.pick({ setting: true, client: true, credential: true })
export type RefusedClient = z.output<typeof refusedClient>

/** Clients of the original platform, and whether they are served. */
export const olderClientsView = z.strictObject({
  /** Whether they are served. */
  on: z.boolean(),
  /** Whether getAccessToken, which takes secrets in URLs, is served. */
  get_access_token: z.boolean(),
  /** Settings (in `compatibility`) set by a flag or the environment, which override the page's switch. */
  fixed: z.array(z.enum(['older_clients', 'get_access_token'])),
  /** Number of answered calls, since the start, that only clients of the original platform make. */
  served: z.int(),
  /**
   * Calls refused within the last week because a switch is off, without dismissed clients; latest first, at most 20.
   */
  refused: z.array(refusedCall),
})
export type OlderClientsView = z.output<typeof olderClientsView>
