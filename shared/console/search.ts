import { z } from 'zod'
import { deviceStates } from '../device.ts'
import { nodeStates } from '../node.ts'
import { eventEntry, eventWords } from '../domain/events.ts'
import { read } from './declare.ts'
import { viewer } from './procedure-access.ts'
import { roomStatuses } from '../domain/rooms.ts'

/** Kinds of search results, in the order in which they are shown. */
const searchKinds = ['tags', 'rooms', 'people', 'cameras', 'nodes', 'credentials', 'events'] as const
export type SearchKind = (typeof searchKinds)[number]

/** Maximum length of a search text, in characters. */
export const maxSearchText = 200

const group = <T extends z.ZodType>(item: T) =>
  z.strictObject({
    items: z.array(item),
    /** Whether there are more results than returned. */
    more: z.boolean(),
  })

const foundTag = z.strictObject({
  tag: z.string(),
  /** Number of rooms with this tag, and number of cameras; 0: none, or the caller may not list them. */
  rooms: z.int(),
  cameras: z.int(),
})
const foundRoom = z.strictObject({
  room_id: z.string(),
  topic: z.string(),
  owner_id: z.string(),
  status: z.enum(roomStatuses),
  users: z.int(),
  tags: z.array(z.string()),
})
const foundPerson = z.strictObject({
  room_id: z.string(),
  topic: z.string(),
  user_id: z.string(),
  user_name: z.string(),
})
const foundCamera = z.strictObject({
  user_id: z.string(),
  user_name: z.string(),
  /** Address without the login and other parts that may be secret. */
  address: z.string(),
  room_id: z.string(),
  state: z.enum(deviceStates),
  tags: z.array(z.string()),
})
const foundNode = z.strictObject({ name: z.string(), kind: z.string(), state: z.enum(nodeStates) })
const foundCredential = z.strictObject({ access_key: z.string(), label: z.string(), enabled: z.boolean() })

const found = z.strictObject({
  tags: group(foundTag),
  rooms: group(foundRoom),
  people: group(foundPerson),
  cameras: group(foundCamera),
  nodes: group(foundNode),
  credentials: group(foundCredential),
  events: group(eventEntry),
})
export type SearchHit = z.output<typeof found>

export const searchProcedures = {
  'search.find': read({
    summary:
      'Find tags, rooms, people in rooms, cameras, nodes, credentials and recent events by text. Every word must occur; case and diacritics do not count. What the caller may not list is left out.',
    input: z.strictObject({
      text: z.string().max(maxSearchText),
      /**
       * The same words, with the sentences and names of events that contain them in the reader's language; undefined:
       * only the values of events are searched.
       */
      event_words: eventWords,
      /** Kinds of results to search for; empty: all. */
      kinds: z.array(z.enum(searchKinds)).max(searchKinds.length).default([]),
      /** Maximum number of results per kind. */
      limit: z.int().min(1).max(50).default(6),
    }),
    output: found,
    // Returns only kinds that the caller may list.
    access: viewer('any'),
  }),
}
