import { randomBytes } from 'node:crypto'
import type { ProcedureOutput } from '../../shared/console/contract.ts'
import { shownName } from '../../shared/control-character.ts'
import type { EventParams } from '../../shared/domain/event-values.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import type { RoomTemplate } from '../../shared/domain/room-templates.ts'
import type { ControlResult, WaitingRefusal } from '../../shared/media/control.ts'
import { type Refusal, refusal } from '../../shared/refusals/refusal.ts'
import { NodeError } from '../nodes/port/media-node-port.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import { inBulk } from '../rooms/bulk.ts'
import type { OperatorMutes } from '../rooms/operator-mutes.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import type { RoomViews } from '../rooms/room-views.ts'
import type { ScheduledRooms } from '../rooms/scheduled-rooms.ts'
import type { SiteTags } from '../rooms/tags.ts'
import type { WaitingGuests } from '../rooms/waiting-guests.ts'
import { comingMeetings } from '../schedule/meetings.ts'
import { type PlannedChange, recordsPut } from '../store/change-cause.ts'
import { versionOf } from '../store/record-edits.ts'
import type { StoredRoomTemplate } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { Trash } from '../store/trash.ts'
import type { CallOrigin, ProcedureHandlers, ProceduresOf } from './handlers.ts'
import type { tagHandlers } from './tag-procedures.ts'
import { deletionBy, undoOf } from './trash-procedures.ts'

const dayMs = 24 * 60 * 60_000

interface RoomHandlersDependencies {
  rooms: Rooms
  roomViews: RoomViews
  scheduled: Pick<ScheduledRooms, 'coming'>
  tags: SiteTags
  trash: Trash
  mutes: OperatorMutes
  logger: NodeLogger
}

export function roomHandlers({
  rooms,
  roomViews: views,
  scheduled,
  tags,
  trash,
  mutes,
  logger,
}: RoomHandlersDependencies): ProcedureHandlers<Exclude<ProceduresOf<'rooms'>, keyof ReturnType<typeof tagHandlers>>> {
  async function mute(
    whom: { room_id: string; user_id: string },
    kind: 'audio' | 'video',
  ): Promise<Record<string, never>> {
    rooms.get(whom.room_id)
    try {
      await mutes.mute(whom.room_id, whom.user_id, kind)
      return {}
    } catch (error) {
      if (error instanceof NodeError) throw new RefusalError(refusal('nodeSilent'), { cause: error })
      throw error
    }
  }
  return {
    'rooms.list': async (query) => {
      if (query.tags.length > 0) await tags.ready()
      return views.list(query)
    },
    'rooms.groups': async (filter) => {
      await tags.ready()
      return views.groups(filter)
    },
    'rooms.get': ({ room_id }) => views.detail(room_id),
    'rooms.reveal_password': ({ room_id }) => ({ host_password: rooms.hostPassword(rooms.get(room_id)) }),
    'rooms.create': async (given) => {
      const wanted = { ...given, tags: given.tags && (await tags.spelled('rooms', given.tags)) }
      return views.view(await rooms.create(wanted, ''))
    },
    'rooms.update': async ({ room_id, ...changes }) => views.view(await rooms.update(room_id, changes, '')),
    'rooms.lock': ({ room_ids }) => inBulk(room_ids, logger, (roomId) => rooms.lock(roomId)),
    'rooms.unlock': ({ room_ids }) => inBulk(room_ids, logger, (roomId) => rooms.unlock(roomId)),
    'rooms.close': ({ room_ids }) => inBulk(room_ids, logger, (roomId) => rooms.close(roomId)),
    'rooms.reopen': ({ room_ids }) => inBulk(room_ids, logger, (roomId) => rooms.reopen(roomId)),
    'rooms.open_now': async ({ room_id }) => views.view(await rooms.openNow(room_id)),
    'rooms.end_now': async ({ room_id }) => views.view(await rooms.endNow(room_id)),
    'rooms.coming': ({ before, limit }) =>
      scheduled.coming(before ?? Date.now() + dayMs, limit).flatMap(({ roomId }) => {
        const { room_id, topic, schedule } = rooms.get(roomId)
        const next = schedule && comingMeetings(schedule, Date.now(), 2).find(({ start }) => start > Date.now())
        return next === undefined ? [] : [{ room_id, topic: shownName(topic), ...next }]
      }),
    'rooms.preview_schedule': (schedule) => comingMeetings(schedule, Date.now(), 3),
    'rooms.delete': async ({ room_ids }, origin) => {
      const deletion = deletionBy(origin)
      const outcome = await inBulk(room_ids, logger, (roomId) => rooms.delete(roomId, deletion))
      return { ...outcome, undo: undoOf(trash, deletion) }
    },
    'rooms.kick': async ({ room_id, user_id }, origin) => {
      await rooms.kick(room_id, user_id, deletionBy(origin))
      return {}
    },
    'rooms.mute': (whom) => mute(whom, 'audio'),
    'rooms.stop_camera': (whom) => mute(whom, 'video'),
  }
}

/** Refusals of actions on waiting guests. */
const refusals: Readonly<Record<WaitingRefusal, Refusal>> = {
  notWaiting: refusal('notWaiting'),
  locked: refusal('waitingRoomLocked'),
  roomFull: refusal('waitingRoomFull'),
  failed: refusal('nodeSilent'),
}

/** Procedures on people who wait to enter rooms. */
export function waitingHandlers(
  rooms: Pick<Rooms, 'get'>,
  guests: WaitingGuests,
): ProcedureHandlers<ProceduresOf<'waiting'>> {
  const outcomeOf = ({ people, refusal: why }: ControlResult<'admit_waiting'>): ProcedureOutput<'waiting.admit'> => {
    if (people.length === 0 && why !== null) throw new RefusalError(refusals[why])
    return { people: people.map(({ userId, userName }) => ({ user_id: userId, user_name: userName })), refusal: why }
  }
  return {
    'waiting.list': () => guests.list(),
    'waiting.admit': async ({ room_id, user_id }) => {
      rooms.get(room_id)
      return outcomeOf(await guests.admit(room_id, user_id))
    },
    'waiting.refuse': async ({ room_id, user_id }) => {
      rooms.get(room_id)
      return outcomeOf(await guests.refuse(room_id, user_id))
    },
    'waiting.message': async ({ room_id, user_id, text }, origin) => {
      rooms.get(room_id)
      try {
        const reached = await guests.message(room_id, senderOf(origin), text, user_id)
        if (reached === 0) throw new RefusalError(refusals.notWaiting)
        return { reached }
      } catch (error) {
        if (error instanceof NodeError) throw new RefusalError(refusals.failed, { cause: error })
        throw error
      }
    },
  }
}

/** Returns the name of the operator for display to a guest; empty without an account: the page shows a default. */
function senderOf({ account = '' }: CallOrigin): string {
  return account
}

/** Lock held by every change of the templates, because names are unique. */
const templatesLock = 'room_templates'

export function templateHandlers(store: Store): ProcedureHandlers<ProceduresOf<'templates'>> {
  return {
    'templates.list': () => {
      const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
      return [...store.all('room_templates').values()]
        .map(templateView)
        .sort((one, other) => collator.compare(one.name, other.name))
    },
    'templates.save': {
      facts: savedTemplateName,
      run: async (wanted) => {
        const saved = await store.transact([templatesLock], (transaction) => {
          const given = 'id' in wanted ? wanted.id : undefined
          const templates = store.all('room_templates')
          const before = given === undefined ? undefined : templates.get(given)
          if (given !== undefined && before === undefined) throw noTemplate()
          const name = wanted.name?.trim() ?? before?.name
          const settings = wanted.settings ?? before?.settings
          if (settings === undefined || name === undefined) throw noTemplate()
          for (const { id, name: other } of templates.values())
            if (id !== given && other.localeCompare(name, 'en', { sensitivity: 'base' }) === 0)
              throw new RefusalError(refusal('templateExists'), { fields: ['name'] })
          const id = given ?? randomBytes(9).toString('base64url')
          const after: StoredRoomTemplate = { id, name, settings, changed_at: Date.now() }
          transaction.put('room_templates', id, after)
          return after
        })
        return templateView(saved)
      },
    },
    'templates.remove': async ({ id }) => {
      await store.transact([templatesLock], (transaction) => {
        if (store.get('room_templates', id) === undefined) throw noTemplate()
        transaction.delete('room_templates', id)
      })
      return {}
    },
  }
}

/** Returns the name of the template stored by a transaction. */
function savedTemplateName(_: unknown, planned: PlannedChange | undefined): EventParams {
  const [saved] = planned === undefined ? [] : recordsPut(planned, 'room_templates')
  return saved === undefined ? {} : { name: saved.name }
}

const templateView = (template: StoredRoomTemplate): RoomTemplate => ({
  ...template,
  version: versionOf('template', template),
})

const noTemplate = (): RefusalError => new RefusalError(refusal('templateNotFound'))
