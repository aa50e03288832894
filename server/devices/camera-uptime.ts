import type { CameraSpan, CameraUptime } from '../../shared/domain/camera-record.ts'
import type { EventEntry, EventFilter } from '../../shared/domain/events.ts'
import { deviceErrorKinds } from '../../shared/device.ts'

/** Period of the record, in milliseconds. */
const recordMs = 30 * 24 * 60 * 60_000
const dayMs = 24 * 60 * 60_000
/** Maximum number of entries per query, and maximum number of queries. */
const pageLength = 500
const maxPages = 8
/** Maximum number of spans; for a camera that is frequently interrupted, only the newest are returned. */
const maxSpans = 2_000

/** The event log, newest entries first. */
interface Log {
  query(query: EventFilter & { before?: number; limit: number }): Promise<{ items: EventEntry[]; next: number }>
}
type State = Pick<CameraSpan, 'state' | 'kind'>

const unknown: State = { state: 'unknown', kind: null }

/** Reads the last 30 days of a camera from the event log. @throws errors of the file system */
export async function cameraUptimeOf(log: Log, userId: string, createdAt: number, now: number): Promise<CameraUptime> {
  const from = Math.max(now - recordMs, Math.min(createdAt, now))
  const own = await entriesOf(log, { groups: ['devices'], subject: { type: 'device', id: userId } }, from)
  const lives = await entriesOf(log, { groups: ['system'], text: 'controller.st' }, from)
  const entries = [...own, ...lives].sort((one, other) => one.at - other.at || one.seq - other.seq)
  const spans = spansOf(entries, from, now)
  return { from, to: now, spans, day: shareOf(spans, now - dayMs), month: shareOf(spans, from) }
}

/** Returns the entries since `from`, and at least one earlier entry, which determines the initial state. */
async function entriesOf(log: Log, filter: EventFilter, from: number): Promise<EventEntry[]> {
  const found: EventEntry[] = []
  let before: number | undefined
  for (let page = 0; page < maxPages; page++) {
    const { items, next } = await log.query({
      ...filter,
      limit: pageLength,
      ...(before === undefined ? {} : { before }),
    })
    found.push(...items)
    if (next === 0 || items.some(({ at }) => at < from)) break
    before = next
  }
  return found
}

/** Returns the spans of a period, oldest first. @param entries oldest first */
function spansOf(entries: readonly EventEntry[], from: number, to: number): CameraSpan[] {
  const spans: CameraSpan[] = [{ ...unknown, from, to }]
  for (const entry of entries) {
    const state = stateAfter(entry)
    const last = spans.at(-1)
    if (state === undefined || last === undefined) continue
    if (state.state === last.state && state.kind === last.kind) continue
    const at = Math.min(Math.max(entry.at, from), to)
    last.to = at
    if (last.from === at) spans.pop()
    const before = spans.at(-1)
    if (before?.state === state.state && before.kind === state.kind) before.to = to
    else spans.push({ ...state, from: at, to })
  }
  return spans.slice(-maxSpans)
}

/** Returns the state of a camera after an event; undefined: the event does not change the state. */
function stateAfter({ kind, params, controller }: EventEntry): State | undefined {
  switch (kind) {
    case 'device.joined':
      return { state: 'up', kind: null }
    case 'device.lost':
    case 'device.failed':
      return { state: 'down', kind: deviceErrorKinds.find((one) => one === params.reason) ?? null }
    case 'device.paused':
      return { state: 'paused', kind: null }
    case 'device.added':
    case 'device.deleted':
      return unknown
    case 'controller.started':
    case 'controller.stopped':
      // On a site with several controllers, another controller continues to record events.
      return controller === undefined ? unknown : undefined
    default:
      return undefined
  }
}

/** Returns the uptime since a moment as a share of the known time, 0 to 1; null: no time is known. */
function shareOf(spans: readonly CameraSpan[], since: number): number | null {
  let up = 0
  let known = 0
  for (const { state, from, to } of spans) {
    const length = to - Math.max(from, since)
    if (length <= 0 || (state !== 'up' && state !== 'down')) continue
    known += length
    if (state === 'up') up += length
  }
  return known === 0 ? null : up / known
}
