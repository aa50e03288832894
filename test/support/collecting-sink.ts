import type { EventDraft } from '../../server/event-log/event-log.ts'
import type { GatedSink } from '../../server/event-log/gathering-sink.ts'

/** A sink without limits that keeps what it is given in a list. */
export function collectingSink(events: EventDraft[] = []): GatedSink {
  return { append: (event) => void events.push(event), passing: (_, make) => make(), isFlooded: () => false }
}
