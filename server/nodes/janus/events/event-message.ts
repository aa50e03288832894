import { z } from 'zod'

/** Events of a node about itself and its rooms; all others are ignored. */
export type JanusEvent =
  /** It started, and is empty. */
  | { type: 'started' }
  /** Somebody is in a room. */
  | {
      type: 'joined'
      /** Its name on the node, here as below. */
      room: string
      userId: string
      /** The node's number for this participant session; its holder can subscribe in the person's name, so it is never shown. */
      key: number
      /** With which the room was joined, where one is asked for. */
      token: string | undefined
    }
  /** Something else happened in a room. */
  | { type: 'changed'; room: string }
  /** A room was made, or is gone. */
  | { type: 'rooms'; room: string }

/** Events of a node about connections and what was opened by them; a session outlasts its connection for a while (`reclaim_session_timeout`). */
export type ConnectionEvent =
  /** A session was begun by a connection. */
  | { type: 'sessionBegun'; session: number; connection: string }
  /** A session is over. */
  | { type: 'sessionEnded'; session: number }
  /** Somebody is in a room by a handle of a session. */
  | { type: 'participates'; session: number; handle: number; room: string; userId: string }
  /** A connection is gone. */
  | { type: 'disconnected'; connection: string }

/** Event types of Janus (events.h). */
const sessionEvent = 1
const pluginEvent = 64
const transportEvent = 128
const coreEvent = 256

const dataSchema = z.looseObject({
  event: z.string(),
  room: z.string(),
  id: z.string().optional(),
  private_id: z.number().optional(),
  token: z.string().optional(),
})
const roomSchema = z.object({
  type: z.literal(pluginEvent),
  session_id: z.number().optional(),
  handle_id: z.number().optional(),
  event: z.object({ plugin: z.literal('janus.plugin.videoroom'), data: dataSchema }),
})
const startSchema = z.object({ type: z.literal(coreEvent), event: z.object({ status: z.literal('started') }) })
const sessionSchema = z.object({
  type: z.literal(sessionEvent),
  session_id: z.number(),
  event: z.object({ name: z.string(), transport: z.object({ id: z.string() }).optional() }),
})
const transportSchema = z.object({
  type: z.literal(transportEvent),
  event: z.object({ id: z.string(), data: z.object({ event: z.string() }) }),
})
const messageSchema = z.union([roomSchema, startSchema, sessionSchema, transportSchema])

/** Frequent events in a room that do not change its participants. */
const silent = new Set([
  'subscribing',
  'configured',
  'published',
  'unpublished',
  'subscribed',
  'updated',
  'edited',
  'unsubscribed',
])

/**
 * Reads one message of a node: one event, or several that it grouped. Undefined where it is not JSON.
 */
export function readEvents(text: string): (JanusEvent | ConnectionEvent)[] | undefined {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    return undefined
  }
  const list: unknown[] = Array.isArray(document) ? document : [document]
  return list.flatMap((one) => {
    const read = messageSchema.safeParse(one)
    return read.success ? toEvent(read.data) : []
  })
}

/** Whether an event is about a connection, rather than a room or the node itself. */
export function isConnectionEvent(event: JanusEvent | ConnectionEvent): event is ConnectionEvent {
  return 'session' in event || 'connection' in event
}

function toEvent(message: z.output<typeof messageSchema>): (JanusEvent | ConnectionEvent)[] {
  if (message.type === coreEvent) return [{ type: 'started' }]
  if (message.type === transportEvent) {
    const { id, data } = message.event
    return data.event === 'disconnected' ? [{ type: 'disconnected', connection: id }] : []
  }
  if (message.type === sessionEvent) {
    const { session_id: session, event } = message
    if (event.name === 'created' && event.transport !== undefined)
      return [{ type: 'sessionBegun', session, connection: event.transport.id }]
    return event.name === 'created' ? [] : [{ type: 'sessionEnded', session }]
  }
  const { event, room, id: userId, private_id: key, token } = message.event.data
  switch (event) {
    case 'joined':
      if (userId === undefined || key === undefined) return [{ type: 'changed', room }]
      return [{ type: 'joined', room, userId, key, token }, ...participation(message, room, userId)]
    case 'created':
    case 'destroyed':
      return [{ type: 'rooms', room }]
    default:
      return silent.has(event) ? [] : [{ type: 'changed', room }]
  }
}

function participation(
  { session_id: session, handle_id: handle }: z.output<typeof roomSchema>,
  room: string,
  userId: string,
): ConnectionEvent[] {
  return session === undefined || handle === undefined ? [] : [{ type: 'participates', session, handle, room, userId }]
}
