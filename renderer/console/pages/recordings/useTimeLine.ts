import { computed, onBeforeUnmount, type Ref, shallowRef, watch } from 'vue'
import type { EventEntry } from '../../../../shared/domain/events.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { type TimeView } from './axis.ts'
import { keyOf } from './streams.ts'
import type { LackingSpan, RecordedSpan, RecordingGap, RecordingStream } from '../../../../shared/domain/recordings.ts'

/** Recorded spans and gaps of one stream, and the times in which recordings do not hold every track. */
export interface Lane {
  spans: readonly RecordedSpan[]
  gaps: readonly RecordingGap[]
  lacks: readonly LackingSpan[]
}

/** The tracks that recordings of a lane do not hold at a moment; undefined: they hold all. */
export function lackAt(lane: Lane | undefined, at: number): LackingSpan | undefined {
  return lane?.lacks.find(({ from, to }) => from <= at && to > at)
}

/** The gap of a lane at a moment, with its reason. */
export function gapAt(lane: Lane | undefined, at: number): RecordingGap | undefined {
  return lane?.gaps.find(({ from, to }) => from <= at && (to ?? Date.now()) > at)
}

/** Waiting time after the last change of the view, in milliseconds. */
const restMs = 120
/** Interval of reading while the present is shown, in milliseconds. */
const liveMs = 10_000
/** Marks that are shown at once. */
const maxMarks = 200

/** Time line of the chosen streams and the events of their rooms, for the view and a little more. */
export function useTimeLine(streams: Readonly<Ref<readonly RecordingStream[]>>, view: Readonly<Ref<TimeView>>) {
  const client = useConsole()
  const lanes = shallowRef<ReadonlyMap<string, Lane>>(new Map())
  const marks = shallowRef<readonly EventEntry[]>([])
  const failed = shallowRef<unknown>(null)
  const ready = shallowRef(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  let asked = 0

  const rooms = computed(() => [...new Set(streams.value.map(({ room_id }) => room_id))])
  const users = computed(() => new Set(streams.value.map(({ user_id }) => user_id)))

  async function read(): Promise<void> {
    const mine = ++asked
    const { from, to } = view.value
    if (streams.value.length === 0) {
      lanes.value = new Map()
      marks.value = []
      ready.value = true
      return
    }
    const more = (to - from) / 2
    const span = { from: Math.max(0, Math.round(from - more)), to: Math.round(to + more) }
    try {
      const merge_ms = Math.round(Math.min(3_600_000, Math.max(1_500, (to - from) / 1_000)))
      const { items } = await client.call('recordings.segments', { streams: [...streams.value], ...span, merge_ms })
      if (mine !== asked) return
      lanes.value = new Map(items.map((item) => [keyOf(item), item]))
      failed.value = null
      ready.value = true
      // Without its events, the time line shows the rest.
      marks.value = await readMarks(span).catch(() => [])
    } catch (error) {
      if (mine === asked) failed.value = error
    }
  }

  /** Events of the rooms and cameras in this time. */
  async function readMarks({ from, to }: TimeView): Promise<EventEntry[]> {
    const { items } = await client.call('events.list', { groups: ['devices', 'people', 'rooms'], from, to, limit: 500 })
    const concerns = ({ room, subject }: EventEntry): boolean =>
      rooms.value.includes(room) ||
      (subject.type === 'room' && rooms.value.includes(subject.id)) ||
      (subject.type === 'device' && users.value.has(subject.id))
    return items.filter(concerns).slice(0, maxMarks)
  }

  function soon(): void {
    clearTimeout(timer)
    timer = setTimeout(() => void read(), restMs)
  }

  watch([streams, view], soon)
  void read()
  const stopChanges = client.on('recordings.changed', soon)
  const stopReconnect = client.onReconnect(() => void read())
  const live = setInterval(() => {
    if (view.value.to > Date.now() - 60_000 && !document.hidden) void read()
  }, liveMs)
  onBeforeUnmount(() => {
    clearTimeout(timer)
    clearInterval(live)
    stopChanges()
    stopReconnect()
  })

  /** Start of the next span of a stream at or after a moment; undefined: none is known. */
  function nextAfter(key: string, at: number): number | undefined {
    const span = lanes.value.get(key)?.spans.find(({ to }) => to > at)
    return span === undefined ? undefined : Math.max(at, span.from)
  }

  /** End of the last span of a stream before a moment; undefined: none is known. */
  function lastBefore(key: string, at: number): number | undefined {
    const span = lanes.value.get(key)?.spans.findLast(({ from }) => from < at)
    return span === undefined ? undefined : Math.min(at, span.to)
  }

  return { lanes, marks, failed, ready, read, nextAfter, lastBefore }
}
