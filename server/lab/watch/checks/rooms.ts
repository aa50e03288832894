import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createOutgoingUser, destroyOutgoingUser } from '../../../../shared/device-operations.ts'
import { createRoom, deleteRoom, getMcu, getRoom, getRoomByExtendId } from '../../../../shared/media-operations.ts'
import { success } from '../../../../shared/result-codes.ts'
import { specification } from '../../conformance/verdict.ts'
import type { ClientCheck } from '../check.ts'
import type { WatchedCall } from '../watched-call.ts'

/** Maximum number of rooms and devices of a client that are kept. */
const maxKept = 1_000
/** Number of existing rooms of a client that has deleted none. */
const maxRoomsLeft = 20
/** Time after a lost answer in which a call may repeat it, in milliseconds, and number of calls that are kept. */
const repeatsWithinMs = 120_000
const maxCreates = 32

/** A call that created a room, or whose answer was lost. */
interface CreateCall {
  arrivedAt: number
  isLost: boolean
  /** Digest of the parameters that a repetition has, too. */
  room: string
  extendId: string
}

/** Checks of the life of rooms and devices. */
export const roomChecks: readonly ClientCheck[] = [
  {
    id: 'createsOnce',
    source: specification('2.1'),
    fault: { operation: createRoom.name, drop: true },
    start: () => {
      let creates: CreateCall[] = []
      const forget = (...judged: readonly CreateCall[]): void => {
        creates = creates.filter((one) => !judged.includes(one))
      }
      return (call) => {
        const isLookUp = call.is(getRoom) || call.is(getRoomByExtendId)
        if (isLookUp) {
          const id = call.text('room_id') ?? call.text('room_extend_id')
          const lost = creates.find(({ isLost, extendId }) => isLost && extendId !== '' && extendId === id)
          if (lost === undefined) return undefined
          forget(lost)
          return true
        }
        if (!call.is(createRoom)) return undefined
        const one = createCallOf(call)
        creates = [...creates, one].slice(-maxCreates)
        const other = creates.find((before) => before !== one && isRepetition(before, one))
        if (other === undefined) return undefined
        forget(one, other)
        return one.extendId !== '' && one.extendId === other.extendId
      }
    },
  },
  {
    id: 'readsMcuFirst',
    source: specification('7.1'),
    start: () => {
      const rooms = new LRUCache<string, true>({ max: maxKept })
      return (call) => {
        const { room } = call.observation
        if (call.is(getMcu) && call.ret === success) rooms.set(room, true)
        if (call.isInjected) return undefined
        if (call.hasFailed('neverAssigned')) return false
        const isAboutPeople =
          call.observation.operation === 'list_users' || call.observation.operation === 'force_offline'
        return isAboutPeople && rooms.has(room) ? true : undefined
      }
    },
  },
  {
    id: 'repeatsAddress',
    source: specification('4.2'),
    start: () => {
      const addresses = new LRUCache<string, string>({ max: maxKept })
      return (call) => {
        const address = hash('sha256', call.text('userAddress') ?? '', 'base64url')
        const user = call.text('userId') ?? ''
        if (call.is(createOutgoingUser) && call.ret === success) addresses.set(user, address)
        if (!call.is(destroyOutgoingUser) || call.isInjected) return undefined
        if (call.ret === success) {
          addresses.delete(user)
          return true
        }
        const created = addresses.get(user)
        const isOther = created !== undefined && created !== address
        return call.hasFailed('outgoingUserNotFound') && isOther ? false : undefined
      }
    },
  },
  {
    id: 'deletesRooms',
    source: specification('3'),
    start: ({ isRoom }) => {
      const rooms = new LRUCache<string, true>({ max: maxKept })
      let hasDeleted = false
      return (call) => {
        const { room } = call.observation
        if (call.ret !== success) return undefined
        if (call.is(deleteRoom)) {
          hasDeleted = true
          return true
        }
        if (!call.is(createRoom)) return undefined
        rooms.set(room, true)
        if (hasDeleted || rooms.size < maxRoomsLeft) return undefined
        for (const each of rooms.keys()) if (!isRoom(each)) rooms.delete(each)
        return rooms.size < maxRoomsLeft ? undefined : false
      }
    },
  },
]

function createCallOf(call: WatchedCall): CreateCall {
  const { arrivedAt, ret, isGone } = call
  const room = hash('sha256', JSON.stringify([call.text('topic'), call.text('owner_id')]), 'base64url')
  return { arrivedAt, isLost: ret === undefined || isGone, room, extendId: call.text('room_extend_id') ?? '' }
}

/** Whether one call repeats the other one after its answer was lost. The lost call may be answered last. */
function isRepetition(one: CreateCall, other: CreateCall): boolean {
  const [first, second] = one.arrivedAt <= other.arrivedAt ? [one, other] : [other, one]
  return first.isLost && first.room === second.room && second.arrivedAt - first.arrivedAt < repeatsWithinMs
}
