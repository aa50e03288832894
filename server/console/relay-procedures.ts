import type { CascadeView } from '../../shared/console/relays.ts'
import type { Cascades } from '../nodes/janus/relay/relayed-rooms.ts'
import type { Handlers, ProceduresOf } from './handlers.ts'

/** Procedures on what nodes hand to each other. */
export function relayHandlers(
  cascades: Pick<Cascades, 'rooms' | 'nodesOf' | 'relays'>,
): Handlers<ProceduresOf<'relays'>> {
  const view = (room_id: string): CascadeView => ({
    room_id,
    nodes: [...cascades.nodesOf(room_id)],
    relays: cascades.relays.of(room_id).map(({ stream, from, to, isUp, since }) => ({
      stream_id: stream,
      from,
      to,
      state: isUp ? 'up' : 'connecting',
      since,
    })),
  })
  return {
    'relays.list': ({ room_id }) => {
      const rooms = room_id === undefined ? [...cascades.rooms] : [room_id].filter((one) => cascades.rooms.has(one))
      return rooms.map(view)
    },
  }
}
