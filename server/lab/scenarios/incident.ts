import type { EventEntry } from '../../../shared/domain/events.ts'
import { maxSteps, scenarioOf } from './format.ts'
import { type IncidentRecord, IncidentSteps, type TimedStep, worded } from './incident-steps.ts'

/** A stretch has more steps than a scenario may have. */
export class IncidentTooLongError extends Error {
  override readonly name = 'IncidentTooLongError'
  readonly steps: number

  constructor(steps: number) {
    super(`The stretch has ${steps} steps.`)
    this.steps = steps
  }
}

const label = 'Incident client'
/** Maximum length of the events in a file, in characters: the file is at most 1 MiB long. */
const maxEventText = 300_000

/**
 * Returns a stretch of a site's life as a scenario: rooms, cameras and people of the stretch on simulated nodes, with
 * the calls of clients and the trouble of nodes and cameras at their times. It contains no secret: the journal of calls
 * has none, and its clients get credentials of their own. Values that the journal hides by their length are replaced by
 * texts of that length.
 * @returns the document, and the number of calls that have no step; with no step at all, it is no scenario
 * @throws IncidentTooLongError
 */
export function incidentOf(record: IncidentRecord): {
  document: unknown
  name: string
  steps: number
  leftOut: number
} {
  const steps = new IncidentSteps(record)
  const timed = shortened(steps.all)
  if (timed.length > maxSteps) throw new IncidentTooLongError(timed.length)
  const leftOut = steps.leftOut + steps.all.length - timed.length
  const time = new Date(record.from).toISOString()
  const name = `incident-${time.slice(0, 16).replaceAll(/\D/g, '')}`
  const document = {
    format: 'roomdesk-scenario',
    version: 1,
    name,
    title: worded(`Incident of ${time}`, `${time} 的事件`, `Vorfall vom ${time}`),
    description: worded(
      `What happened on a site until ${new Date(record.to).toISOString()}, on simulated nodes.`,
      `站点截至 ${new Date(record.to).toISOString()} 发生的情况，在模拟节点上重现。`,
      `Was an einem Standort bis ${new Date(record.to).toISOString()} geschah, auf simulierten Knoten.`,
    ),
    site: {
      credentials: steps.clients.map((access_key, index) => ({
        ...{ label: `${label} ${index + 1}`, access_key, secret_key: 'incident_secret', p2p: true },
      })),
      nodes: steps.nodes.map((name) => ({ name, kind: 'simulated' })),
    },
    steps: timed.map(({ at, fields }) => ({ at: `${(at / 1_000).toFixed(3)}s`, ...fields })),
    incident: {
      ...{ from: record.from, to: record.to, product: record.product, calls_left_out: leftOut },
      ...{ cameras: record.cameras, people: record.people, events: latest(steps.shownEvents) },
    },
  }
  // A document that no run could read is a fault of this file.
  if (timed.length > 0) scenarioOf(document)
  return { document, name, steps: timed.length, leftOut }
}

/** Leaves out the oldest calls without effect, if there are too many steps. */
function shortened(steps: readonly TimedStep[]): readonly TimedStep[] {
  let surplus = Math.max(0, steps.length - maxSteps)
  return steps.filter(({ readsOnly }) => !readsOnly || surplus-- <= 0)
}

/** Returns the newest events that fit into a file, oldest first. */
function latest(events: readonly EventEntry[]): readonly EventEntry[] {
  let length = 0
  const tooMany = events.findLastIndex((event) => (length += JSON.stringify(event).length) > maxEventText)
  return events.slice(tooMany + 1)
}
