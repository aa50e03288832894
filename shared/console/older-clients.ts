import { z } from 'zod'
import { moment } from './procedure.ts'

/** A call of one client that only clients of the original platform make, and that a switch refuses. */
const refusedCall = z.strictObject({
  /** The setting in `compatibility` that would answer it. */
  setting: z.enum(['older_clients', 'get_access_token']),
  /** Name of the operation. */
  operation: z.string(),
  path: z.string(),
  /** The operation is one that every client has, but its parameters are as only those clients send them. */
  by_parameters: z.boolean(),
  /** Client address. */
  client: z.string(),
  /** access_key; empty when it did not show which it has. */
  credential: z.string(),
  count: z.int(),
  first_at: moment,
  last_at: moment,
})
export type RefusedCall = z.output<typeof refusedCall>

/** A client that a switch keeps out. */
export const refusedClient = refusedCall.pick({ setting: true, client: true, credential: true })
export type RefusedClient = z.output<typeof refusedClient>

/** Clients that were written for the original platform, and whether they are served. */
export const olderClientsView = z.strictObject({
  /** They are. */
  on: z.boolean(),
  /** So is getAccessToken, which takes secrets in URLs. */
  get_access_token: z.boolean(),
  /** Settings (in `compatibility`) that a flag or the environment decides: the switch on the page has no say. */
  fixed: z.array(z.enum(['older_clients', 'get_access_token'])),
  /** Calls answered since the start that only those clients make. */
  served: z.int(),
  /** Calls refused within the last week because a switch is off now, without dismissed clients; the last one first, at most 20. */
  refused: z.array(refusedCall),
})
export type OlderClientsView = z.output<typeof olderClientsView>
