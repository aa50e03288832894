import { z } from 'zod'
import { deviceInput } from '../../../../shared/domain/devices.ts'
import { roomCreateInput } from '../../../../shared/domain/rooms.ts'
import { useConsole } from '../../composables/useConsole.ts'

/** Values of the fields of `RoomChoice`. */
export interface RoomChoiceValues {
  room: 'existing' | 'fresh'
  roomId: string
  topic: string
}

/** Id of an existing room, or topic of a new one. Validates like the controller. */
export const chosenRoom = z.strictObject({
  roomId: deviceInput.shape.roomId.optional(),
  topic: roomCreateInput.shape.topic.optional(),
})
type ChosenRoom = z.output<typeof chosenRoom>

/** Returns the input of the fields. */
export function chosenOf({ room, roomId, topic }: RoomChoiceValues): ChosenRoom {
  return room === 'fresh' ? { topic } : { roomId }
}

/**
 * Returns a function that does something with the chosen room, and creates a new one before. If it fails, the next
 * attempt uses the same new room.
 */
export function useChosenRoom() {
  const client = useConsole()
  let made: { topic: string; room_id: string } | undefined
  return async <R>({ roomId, topic = '' }: ChosenRoom, run: (roomId: string) => Promise<R>): Promise<R> => {
    if (roomId !== undefined) return run(roomId)
    if (made?.topic !== topic) made = { topic, room_id: (await client.call('rooms.create', { topic })).room_id }
    const result = await run(made.room_id)
    made = undefined
    return result
  }
}
