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

/** Event types of Janus (events.h). */
const pluginEvent = 64
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
  event: z.object({ plugin: z.literal('janus.plugin.videoroom'), data: dataSchema }),
})
const startSchema = z.object({ type: z.literal(coreEvent), event: z.object({ status: z.literal('started') }) })
const messageSchema = z.union([roomSchema, startSchema])

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
export function readEvents(text: string): JanusEvent[] | undefined {
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

function toEvent(message: z.output<typeof messageSchema>): JanusEvent[] {
  if (message.type === coreEvent) return [{ type: 'started' }]
  const { event, room, id: userId, private_id: key, token } = message.event.data
  switch (event) {
    case 'joined':
      if (userId === undefined || key === undefined) return [{ type: 'changed', room }]
      return [{ type: 'joined', room, userId, key, token }]
    case 'created':
    case 'destroyed':
      return [{ type: 'rooms', room }]
    default:
      return silent.has(event) ? [] : [{ type: 'changed', room }]
  }
}
