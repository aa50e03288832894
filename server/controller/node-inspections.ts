import type { Logger } from 'pino'
import type { EventPort } from '../nodes/janus/events/event-port.ts'
import type { JanusNodes } from '../nodes/janus/janus-nodes.ts'
import { inspectJanus } from '../nodes/janus/safety/inspect-janus.ts'
import type { NodeInspections } from '../nodes/port/node-inspection.ts'
import { janusAccess } from '../nodes/secrets/janus-access.ts'
import type { Store } from '../store/store.ts'

/** Parts that inspections of nodes use. */
export interface InspectionParts {
  store: Store
  janus: Pick<JanusNodes, 'tells'>
  janusEvents: Pick<EventPort, 'url'>
  logger: Logger
}

/** Inspects a node when the operator tests it. */
export function nodeInspections({ store, janus, janusEvents, logger }: InspectionParts): NodeInspections {
  return {
    janus: (node) => {
      const access = janusAccess(node, store)
      const events = (room: string, signal: AbortSignal): Promise<boolean> => janus.tells(access, room, signal)
      return inspectJanus(access, { logger, clock: Date.now, ...(janusEvents.url === '' ? {} : { events }) })
    },
  }
}
