import type { EventEntry, EventFilter } from '../../../shared/domain/events.ts'
import type { SiteController } from '../sites/controllers-site.ts'

/** Entries on one page of an answer. */
const pageSize = 500

/** Reads all entries of the site's event log that match, oldest first. */
export async function loggedEvents({ headless }: SiteController, filter: EventFilter): Promise<EventEntry[]> {
  const all: EventEntry[] = []
  let before = 0
  do {
    const page = before === 0 ? {} : { before }
    const { items, next } = await headless.rpc('events.list', { ...filter, limit: pageSize, ...page })
    all.push(...items)
    before = next
  } while (before !== 0)
  return all.reverse()
}

/** Differences between events and what they should be: the kinds that are due, each stored with its change. @param events oldest first */
export function eventDifferences(
  what: string,
  due: readonly EventEntry['kind'][],
  events: readonly EventEntry[],
): string[] {
  const logged = events.map(({ kind, change }) => (change === undefined ? `${kind} without its change` : kind))
  return due.join() === logged.join() ? [] : [`${what}: due are [${due.join()}], logged are [${logged.join()}]`]
}
