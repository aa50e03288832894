import type { z } from 'zod'
import type { bulkOutcome } from '../../shared/domain/outcome.ts'
import type { TagChange } from '../../shared/tags.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import { inBulk } from '../rooms/bulk.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import type { RoomViews } from '../rooms/room-views.ts'
import { changedTags, type SiteTags, type TaggedKind, TagUndo } from '../rooms/tags.ts'
import { requireDeviceView } from './camera-procedures.ts'
import type { ProcedureHandlers } from './handlers.ts'

export interface TagDependencies {
  rooms: Rooms
  roomViews: RoomViews
  outgoing: OutgoingUsers
  tags: SiteTags
  logger: NodeLogger
}

type TagProcedures = 'tags' | 'set_tags' | 'change_tags'

type Changer = (key: string, change: (tags: readonly string[]) => readonly string[]) => Promise<unknown>

export function tagHandlers(dependencies: TagDependencies): ProcedureHandlers<`${TaggedKind}.${TagProcedures}`> {
  const { rooms, roomViews, outgoing, tags, logger } = dependencies
  const ofRoom: Changer = (roomId, change) => rooms.changeTags(roomId, change)
  const ofDevice: Changer = (userId, change) => outgoing.changeTags(userId, change)
  const known = async (kind: TaggedKind) => {
    await tags.ready()
    return tags[kind].list()
  }
  return {
    'rooms.tags': () => known('rooms'),
    'rooms.set_tags': async ({ room_id, tags: given }) => {
      const wanted = await tags.spelled('rooms', given, room_id)
      return roomViews.view(await rooms.changeTags(room_id, () => wanted))
    },
    'rooms.change_tags': async ({ changes }) => {
      const wanted = changes.map(({ room_ids: keys, ...change }) => ({ keys, ...change }))
      const { undo, ...outcome } = await changeMany('rooms', wanted, { tags, logger, change: ofRoom })
      return { ...outcome, undo: undo.map(({ keys, ...change }) => ({ room_ids: keys, ...change })) }
    },
    'devices.tags': () => known('devices'),
    'devices.set_tags': async ({ userId, tags: given }) => {
      const wanted = await tags.spelled('devices', given, userId)
      await outgoing.changeTags(userId, () => wanted)
      return requireDeviceView(outgoing, userId)
    },
    'devices.change_tags': async ({ changes }) => {
      const wanted = changes.map(({ userIds: keys, ...change }) => ({ keys, ...change }))
      const { undo, ...outcome } = await changeMany('devices', wanted, { tags, logger, change: ofDevice })
      return { ...outcome, undo: undo.map(({ keys, ...change }) => ({ userIds: keys, ...change })) }
    },
  }
}

interface ChangeOfMany {
  tags: SiteTags
  logger: NodeLogger
  change: Changer
}

type KeyedChange = TagChange & { keys: readonly string[] }
type Undoable = z.output<typeof bulkOutcome> & { undo: { keys: string[]; add: string[]; remove: string[] }[] }

/** Changes the tags of many records separately, and returns the inverse changes. */
async function changeMany(
  kind: TaggedKind,
  changes: readonly KeyedChange[],
  { tags, logger, change }: ChangeOfMany,
): Promise<Undoable> {
  const changesOf = new Map<string, TagChange[]>()
  for (const { keys, add, remove } of changes) {
    const one = { add: await tags.spelled(kind, add), remove }
    for (const key of keys) {
      const before = changesOf.get(key)
      if (before === undefined) changesOf.set(key, [one])
      else before.push(one)
    }
  }
  const undo = new TagUndo()
  const outcome = await inBulk([...changesOf.keys()], logger, async (key) => {
    let before: readonly string[] = []
    let after: readonly string[] = []
    await change(key, (present) => {
      before = present
      after = (changesOf.get(key) ?? []).reduce(changedTags, present)
      return after
    })
    undo.note(key, before, after)
  })
  const opposite = undo.changes().map(({ keys, add, remove }) => ({ keys, add: [...add], remove: [...remove] }))
  return { ...outcome, undo: opposite }
}
