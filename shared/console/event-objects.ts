import type { EventPayload } from './contract.ts'
import type { EventName } from './event-names.ts'

/** Names and reads the objects that an event lists. */
interface ListedObjects<N extends EventName> {
  /** Field of a procedure's input that names one object. */
  input: string
  /** Returns the ids of the listed objects; undefined: any may have changed. */
  ids: (payload: EventPayload<N>) => readonly string[] | undefined
}

/** Events that list their objects. A reading of one object is refreshed only by events that list it. */
export const eventObjects: { readonly [N in EventName]?: ListedObjects<N> } = {
  'rooms.changed': { input: 'room_id', ids: ({ all, room_ids }) => (all ? undefined : room_ids) },
  'recordings.changed': { input: 'room_id', ids: ({ all, room_ids }) => (all ? undefined : room_ids) },
  'devices.changed': { input: 'userId', ids: ({ items, removed }) => [...items.map((one) => one.userId), ...removed] },
}
