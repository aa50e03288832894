import type { RelayedRoomView } from '../../shared/console/relays.ts'
import type { RelayedRooms } from '../nodes/janus/relay/relayed-rooms.ts'
import type { Handlers, ProceduresOf } from './handlers.ts'

/** Procedures on what nodes hand to each other. */
export function relayHandlers(
  relayedRooms: Pick<RelayedRooms, 'rooms' | 'nodesOf' | 'relays'>,
): Handlers<ProceduresOf<'relays'>> {
  const view = (room_id: string): RelayedRoomView => ({
    room_id,
    nodes: [...relayedRooms.nodesOf(room_id)],
    relays: relayedRooms.relays.of(room_id).map(({ stream, from, to, isUp, since }) => ({
      stream_id: stream,
      from,
      to,
      state: isUp ? 'up' : 'connecting',
      since,
    })),
  })
  return {
    'relays.list': ({ room_id }) => {
      const rooms =
        room_id === undefined ? [...relayedRooms.rooms] : [room_id].filter((one) => relayedRooms.rooms.has(one))
      return rooms.map(view)
    },
  }
}
