import { z } from 'zod'

/** Events of a node about itself and its rooms. Other events are ignored. */
export type JanusEvent =
  /** The node started, without rooms. */
  | { type: 'started' }
  | {
      type: 'joined'
      /** Name of the room on the node, as in the other events. */
      room: string
      userId: string
      /**
       * The node's private id of this participant session. It must stay secret, because it permits subscriptions on
       * behalf of the participant.
       */
      key: number
      /** Token used to join, if the room requires one. */
      token: string | undefined
    }
  /** Any other event in a room. */
  | { type: 'changed'; room: string }
  /** A room was created or destroyed. */
  | { type: 'rooms'; room: string }

/**
 * Events of a node about connections and their sessions. A session outlasts its connection for a while
 * (`reclaim_session_timeout`).
 */
export type ConnectionEvent =
  /** A session was created through a connection. */
  | { type: 'sessionBegun'; session: number; connection: string }
  | { type: 'sessionEnded'; session: number }
  /** A handle of a session joined a room as a participant. */
  | { type: 'participates'; session: number; handle: number; room: string; userId: string }
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

/** Parses one message of a node: one event, or a group of events. Returns undefined if it is not JSON. */
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

/** Returns whether an event concerns a connection or a session, not a room or the node itself. */
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
