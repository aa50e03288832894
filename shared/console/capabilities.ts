import { z } from 'zod'
import { limits } from '../limits.ts'
import { change, read } from './declare.ts'
import { moment } from '../domain/outcome.ts'
import { operator } from './procedure-access.ts'
import { subject } from './procedure-events.ts'
import { roomId } from '../domain/ids.ts'

/**
 * Kinds of capabilities. A capability gives access to one thing without signing in, to everyone who has its address.
 */
export const capabilityKinds = ['join', 'live-link', 'recorded-link', 'live', 'push', 'recording', 'export'] as const
export type CapabilityKind = (typeof capabilityKinds)[number]

/** Maker of a capability. `key`: the console key. `site`: the window of the desktop app, or a host in a meeting. */
const capabilityMakers = ['account', 'token', 'credential', 'key', 'site'] as const

const capabilityView = z.strictObject({
  id: z.string(),
  kind: z.enum(capabilityKinds),
  maker: z.strictObject({
    type: z.enum(capabilityMakers),
    /** Id of the account or access token, or access_key of the credential; empty: other makers. */
    id: z.string(),
    /** Name of the account, or label of the token or credential; empty: none. */
    name: z.string(),
  }),
  /** Room of the capability; empty: none. */
  room_id: z.string(),
  /** Topic of the room; empty: the room was deleted. */
  topic: z.string(),
  /** User of the capability; empty: the whole room, or any user. */
  user_id: z.string(),
  /** Name of the camera, or name in a join link; empty: any user, a whole room, or a deleted camera. */
  user_name: z.string(),
  /** Further details for users: the server of a push, `host` for a host's link; empty: none. */
  detail: z.string(),
  created_at: moment,
  /** Expiry; 0: it ends with the room or recording to which it gives access. */
  expires_at: moment,
  /** Time of the last use; 0: never. */
  last_used_at: moment,
})
export type CapabilityView = z.output<typeof capabilityView>

/** Selects all capabilities of a room, of a maker, or of the site. */
const selection = z.strictObject({
  room_id: roomId.optional(),
  maker: z.strictObject({ type: z.enum(capabilityMakers), id: z.string().max(256).default('') }).optional(),
})

export const capabilityProcedures = {
  'capabilities.list': read({
    summary: 'What is open to holders of an address: links, live streams, recordings and exports, the newest first.',
    input: selection.extend({
      offset: z.int().min(0).default(0),
      limit: z.int().min(1).max(limits.pageSize).default(100),
    }),
    output: z.strictObject({ total: z.int(), items: z.array(capabilityView) }),
    // The list includes all addresses of all makers.
    access: operator('links:write'),
    refreshOn: ['capabilities.changed'],
  }),
  'capabilities.revoke': change({
    summary: 'Revoke links and other capabilities: their addresses become invalid, and live streams and pushes end.',
    input: z.strictObject({ ids: z.array(z.string().min(1).max(128)).min(1).max(limits.pageSize) }),
    output: z.strictObject({ revoked: z.int() }),
    access: operator('links:write'),
    event: { collection: 'capabilities', subjects: () => [subject.site], counts: 'revoked' },
  }),
  'capabilities.revoke_all': change({
    summary: 'Revoke everything that is open of a room, of a maker, or of the site.',
    input: selection,
    output: z.strictObject({ revoked: z.int() }),
    access: operator('links:write'),
    event: {
      collection: 'capabilities',
      subjects: ({ room_id }) => [room_id === undefined ? subject.site : subject.room(room_id)],
      counts: 'revoked',
      facts: ({ maker }) => ({ maker: maker?.type ?? '', maker_id: maker?.id ?? '' }),
    },
  }),
}
