import type { ProcedureOutput } from '../../shared/console/contract.ts'
import { ConsoleError } from '../../shared/console/procedure.ts'
import type { ControlResult, WaitingRefusal } from '../../shared/media/control.ts'
import { type Refusal, refusal } from '../../shared/refusals/refusal.ts'
import { NodeError } from '../nodes/port/media-node-port.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import type { WaitingGuests } from '../rooms/waiting-guests.ts'
import type { CallOrigin, Handlers, ProceduresOf } from './handlers.ts'

/** Refusals of an act that reached nobody. */
const refusals: Readonly<Record<WaitingRefusal, Refusal>> = {
  notWaiting: refusal('notWaiting'),
  locked: refusal('waitingRoomLocked'),
  roomFull: refusal('waitingRoomFull'),
  failed: refusal('nodeSilent'),
}

/** Procedures on people who wait before rooms. */
export function waitingHandlers(rooms: Pick<Rooms, 'get'>, guests: WaitingGuests): Handlers<ProceduresOf<'waiting'>> {
  const outcomeOf = ({ people, refusal: why }: ControlResult<'admit_waiting'>): ProcedureOutput<'waiting.admit'> => {
    if (people.length === 0 && why !== null) throw new ConsoleError(refusals[why])
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
        if (reached === 0) throw new ConsoleError(refusals.notWaiting)
        return { reached }
      } catch (error) {
        if (error instanceof NodeError) throw new ConsoleError(refusals.failed, { cause: error })
        throw error
      }
    },
  }
}

/** Name under which a guest sees the operator; empty for one without an account: the page words it. */
function senderOf({ account = '' }: CallOrigin): string {
  return account
}
