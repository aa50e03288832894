import type { ProcedureOutput } from '../../shared/console/contract.ts'
import { ConsoleError } from '../../shared/console/procedure.ts'
import type { ControlResult, WaitingRefusal } from '../../shared/media/control.ts'
import { NodeError } from '../nodes/port/media-node-port.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import type { WaitingGuests } from '../rooms/waiting-guests.ts'
import type { CallOrigin, Handlers, ProceduresOf } from './handlers.ts'

/** Refusals of an act that reached nobody. */
const errors: Record<WaitingRefusal, () => ConsoleError> = {
  notWaiting: () => refused('notFound', 'notWaiting', 'This person no longer waits.'),
  locked: () => refused('conflict', 'roomLocked', 'The room is locked: unlock it first.'),
  roomFull: () => refused('conflict', 'roomFull', 'The room is full: raise its limit, or remove somebody first.'),
  failed: () => refused('failed', 'nodeSilent', 'The node of the room does not answer: see MCU nodes.'),
}

/** Procedures on people who wait before rooms. */
export function waitingHandlers(rooms: Pick<Rooms, 'get'>, guests: WaitingGuests): Handlers<ProceduresOf<'waiting'>> {
  const outcomeOf = ({ people, refusal }: ControlResult<'admit_waiting'>): ProcedureOutput<'waiting.admit'> => {
    if (people.length === 0 && refusal !== null) throw errors[refusal]()
    return { people: people.map(({ userId, userName }) => ({ user_id: userId, user_name: userName })), refusal }
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
        if (reached === 0) throw errors.notWaiting()
        return { reached }
      } catch (error) {
        if (error instanceof NodeError) throw errors.failed()
        throw error
      }
    },
  }
}

/** Name under which a guest sees the operator; empty for one without an account: the page words it. */
function senderOf({ account = '' }: CallOrigin): string {
  return account
}

function refused(code: 'notFound' | 'conflict' | 'failed', name: string, message: string): ConsoleError {
  return new ConsoleError(code, message, { refused: { name, values: {} } })
}
