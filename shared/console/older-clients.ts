import { z } from 'zod'
import { moment } from '../domain/outcome.ts'

/** Rejected calls of one client that only clients of the original platform make. */
const refusedCall = z.strictObject({
  /** Setting in `compatibility` that would allow the call. */
  setting: z.enum(['older_clients', 'get_access_token']),
  operation: z.string(),
  path: z.string(),
  /** Whether the operation is also used by other clients, so that only its parameters identify an older client. */
  by_parameters: z.boolean(),
  client: z.string(),
  /** access_key; empty: none was sent. */
  credential: z.string(),
  count: z.int(),
  first_at: moment,
  last_at: moment,
})
export type RefusedCall = z.output<typeof refusedCall>

/** Client rejected because a setting is off. */
export const refusedClient = refusedCall.pick({ setting: true, client: true, credential: true })
export type RefusedClient = z.output<typeof refusedClient>

/** State of the support for clients of the original platform. */
export const olderClientsView = z.strictObject({
  /** Whether these clients are supported. */
  on: z.boolean(),
  /** Whether getAccessToken, which takes secrets in URLs, is supported. */
  get_access_token: z.boolean(),
  /** Settings (in `compatibility`) set by a flag or the environment, which override the page's switch. */
  fixed: z.array(z.enum(['older_clients', 'get_access_token'])),
  /** Number of answered calls since the start that only clients of the original platform make. */
  served: z.int(),
  /**
   * Calls rejected within the last week because a setting is off, except from dismissed clients. Latest first, at most
   * 20.
   */
  refused: z.array(refusedCall),
})
export type OlderClientsView = z.output<typeof olderClientsView>
