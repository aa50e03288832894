import { z } from 'zod'
import { limits } from '../limits.ts'
import { change, lasting, read } from './declare.ts'
import { bulkOutcome, moment, emptyOutcome } from '../domain/outcome.ts'
import { operator, person } from './procedure-access.ts'
import { changes, subject } from './procedure-events.ts'

export const trashKinds = ['rooms', 'devices', 'credentials', 'nodes', 'wall_views'] as const
export type TrashKind = (typeof trashKinds)[number]

const id = z.string().min(1).max(64)
const ids = z.array(id).min(1).max(10_000)

/** Deleted object that can be restored. */
const trashView = z.strictObject({
  id,
  kind: z.enum(trashKinds),
  /** Key of the object: room number, user id, access_key, name of the node, or id of the view. */
  key: z.string(),
  /** Topic, name or label of the object. */
  name: z.string(),
  /** Room of a camera; empty: another kind of object. */
  room_id: z.string(),
  /** Number of cameras that are restored with the room. */
  cameras: z.int(),
  deleted_at: moment,
  /** Time of the permanent deletion. */
  expires_at: moment,
  /**
   * Originator of the deletion. `name` for an operator: the account or the kind of proof; for a client: its access_key.
   */
  deleted_by: z.strictObject({ type: z.enum(['operator', 'client', 'system']), name: z.string() }),
})
export type TrashView = z.output<typeof trashView>

const restoreInput = z
  .strictObject({
    ids: ids.optional(),
    /** `undo` from the result of a deletion: restores everything that the deletion moved to the trash. */
    undo: id.optional(),
  })
  .refine((given) => (given.ids === undefined) !== (given.undo === undefined), {
    error: 'give either ids or undo',
  })
const restoreOutput = bulkOutcome.extend({
  /** Keys of the restored objects. */
  restored: z.array(z.string()),
})

/** Id of a deletion, as input of a `restore` procedure; empty: nothing was deleted. */
const undo = z.string()
export const deleted = z.strictObject({ undo })
export const bulkDeleted = bulkOutcome.extend({ undo })

const restored = (what: string) => ({
  summary: `Restore ${what} from the trash, as before.`,
  input: restoreInput,
  output: restoreOutput,
})

export const trashProcedures = {
  'trash.list': read({
    summary: 'Deleted things that can be restored, the last deleted first, a page of them.',
    input: z.strictObject({
      /** Text to find in key or name; case-insensitive. */
      search: z.string().max(200).default(''),
      kind: z.enum(trashKinds).optional(),
      offset: z.int().min(0).default(0),
      limit: z.int().min(0).max(limits.pageSize).default(100),
    }),
    output: z.strictObject({
      /** Number of matching objects. */
      total: z.int(),
      /** Number of all objects in the trash. */
      all: z.int(),
      items: z.array(trashView),
      /** Whether a limit is reached, so that the oldest objects are deleted before they expire. */
      full: z.boolean(),
      days: z.int(),
    }),
    access: operator('site:read'),
    refreshOn: ['trash.changed'],
  }),
  'trash.purge': change({
    summary: 'Delete things in the trash for good.',
    input: z.strictObject({ ids }),
    output: z.strictObject({ done: z.int() }),
    access: person('admin'),
    event: { collection: 'trash', subjects: () => [subject.site], counts: 'things' },
  }),
  'trash.empty': change({
    summary: 'Delete everything in the trash for good.',
    input: emptyOutcome,
    output: z.strictObject({ done: z.int() }),
    access: person('admin'),
    event: { collection: 'trash', subjects: () => [subject.site], counts: 'things' },
  }),
  'rooms.restore': change({
    ...restored('rooms with their cameras'),
    access: operator('rooms:write'),
    event: changes('room'),
  }),
  'devices.restore': change({
    ...restored('cameras'),
    access: operator('devices:write'),
    event: changes('device'),
  }),
  'credentials.restore': lasting({
    ...restored('credentials with their secrets'),
    // Restoring grants access again.
    access: person('admin'),
    event: changes('credential'),
  }),
  'nodes.restore': lasting({
    ...restored('nodes'),
    access: person('admin'),
    event: changes('node'),
  }),
  'wall.restore': change({
    ...restored('views of the wall'),
    access: operator('wall:write'),
    event: changes('wall'),
  }),
}
