import type { Answer } from './answer.ts'
import type { CallParameters } from '../client/call-request.ts'
import type { OperationName } from './operations.ts'

/** Number of calls at a time while records are removed. */
const concurrency = 4

/** Calls an operation; undefined: no answer. */
type RemovalCall = (name: OperationName, params: CallParameters) => Promise<Answer | undefined>

/** Records on the server that a run has made, or may have made. */
export class MadeRecords {
  readonly #rooms = new Set<string>()
  /** Devices by userId. */
  readonly #devices = new Map<string, CallParameters>()
  readonly #recordings = new Set<string>()
  readonly #lives = new Set<string>()
  /** Calls of create_room without an answer and without a room_extend_id: the number of the room is unknown. */
  #unknownRooms = 0

  /** Notes the effect of a call. @param answer undefined: no answer, so the effect is unknown */
  note(name: OperationName, params: CallParameters, answer: Answer | undefined): void {
    if (answer !== undefined && answer.ret !== 0) return
    const made = (field: string): string => textOf(answer?.fields[field])
    switch (name) {
      case 'create_room':
        if (answer === undefined && textOf(params.room_extend_id) === '') this.#unknownRooms += 1
        return this.#add(this.#rooms, answer === undefined ? textOf(params.room_extend_id) : made('room_id'))
      case 'create_outgoing_user': {
        const { roomId, userId, userAddress } = params
        this.#devices.set(textOf(userId), { roomId, userId, userAddress })
        return
      }
      case 'recording_start':
        return this.#add(this.#recordings, made('id'))
      case 'live_start':
        return this.#add(this.#lives, made('id'))
      default:
        if (answer !== undefined) this.#noteRemoval(name, params)
    }
  }

  #noteRemoval(name: OperationName, { room_id, userId, user_id, id }: CallParameters): void {
    if (name === 'delete_room') this.#rooms.delete(textOf(room_id))
    else if (name === 'destroy_outgoing_user') this.#devices.delete(textOf(userId))
    else if (name === 'force_offline') this.#devices.delete(textOf(user_id))
    else if (name === 'recording_delete') this.#recordings.delete(textOf(id))
    else if (name === 'live_delete') this.#lives.delete(textOf(id))
  }

  #add(records: Set<string>, id: string): void {
    if (id !== '') records.add(id)
  }

  /** Removes all records. Returns what may be left, for people. */
  async remove(call: RemovalCall): Promise<string[]> {
    const removals = [
      ...[...this.#devices.values()].map((device) => removal('destroy_outgoing_user', device, 'device', device.userId)),
      ...[...this.#recordings].map((id) => removal('recording_delete', { id }, 'recording', id)),
      ...[...this.#lives].map((id) => removal('live_delete', { id }, 'live stream', id)),
    ]
    const rooms = [...this.#rooms].map((room_id) => removal('delete_room', { room_id }, 'room', room_id))
    // Rooms last: the deletion of a room removes its devices, too.
    const left = [...(await this.#removeAll(removals, call)), ...(await this.#removeAll(rooms, call))]
    if (this.#unknownRooms > 0) left.push(`${this.#unknownRooms} rooms whose creation was not answered`)
    return left
  }

  async #removeAll(removals: readonly Removal[], call: RemovalCall): Promise<string[]> {
    const waiting = [...removals]
    const left: string[] = []
    const work = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const answer = await call(next.name, next.params)
        if (answer?.ret === undefined || !goneCodes.includes(answer.ret)) left.push(next.record)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    return left
  }
}

interface Removal {
  name: OperationName
  params: CallParameters
  record: string
}

/** Success, and the codes for a room, a device or a recording that does not exist. */
const goneCodes: readonly number[] = [0, 404, 424, 425, 430]

function removal(name: OperationName, params: CallParameters, kind: string, id: unknown): Removal {
  return { name, params, record: `${kind} ${textOf(id)}` }
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
