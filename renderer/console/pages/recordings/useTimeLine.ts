import { watchDebounced } from '@vueuse/core'
import { computed, type Ref, shallowRef } from 'vue'
import type { ProcedureInput } from '../../../../shared/console/contract.ts'
import type { EventEntry } from '../../../../shared/domain/events.ts'
import { usePolling } from '../../live/usePolling.ts'
import { useReading } from '../../live/useReading.ts'
import { type TimeView } from './axis.ts'
import { keyOf } from './streams.ts'
import type { LackingSpan, RecordedSpan, RecordingGap, RecordingStream } from '../../../../shared/domain/recordings.ts'

/** Recorded spans and gaps of one stream, and the times at which recordings lack a track. */
export interface Lane {
  spans: readonly RecordedSpan[]
  gaps: readonly RecordingGap[]
  lacks: readonly LackingSpan[]
}

/** Returns the tracks that the recordings of a lane lack at a moment; undefined: none. */
export function lackAt(lane: Lane | undefined, at: number): LackingSpan | undefined {
  return lane?.lacks.find(({ from, to }) => from <= at && to > at)
}

/** Returns the gap of a lane at a moment, with its reason; undefined: none. */
export function gapAt(lane: Lane | undefined, at: number): RecordingGap | undefined {
  return lane?.gaps.find(({ from, to }) => from <= at && (to ?? Date.now()) > at)
}

/** Delay between the last change of the view and loading, in milliseconds. */
const restMs = 120
/** Maximum delay of loading while the view keeps changing, in milliseconds: a held key or a long drag shows what it passes. */
const maxRestMs = 500
/** Interval of loading while the view includes the present, in milliseconds. */
const liveMs = 10_000
/** Maximum number of visible marks. */
const maxMarks = 200

/** Time line of the chosen streams and the events of their rooms, for the view and some time around it. */
export function useTimeLine(streams: Readonly<Ref<readonly RecordingStream[]>>, view: Readonly<Ref<TimeView>>) {
  const stretch = shallowRef(stretchOf())
  const segments = useReading('recordings.segments', stretch, { keepPrevious: true })
  const events = useReading('events.list', eventsInput, { keepPrevious: true, throttleMs: 3_000 })
  const rooms = computed(() => new Set(streams.value.map(({ room_id }) => room_id)))
  const users = computed(() => new Set(streams.value.map(({ user_id }) => user_id)))
  const lanes = computed<ReadonlyMap<string, Lane>>(
    () => new Map(segments.value.value?.items.map((item) => [keyOf(item), item])),
  )
  /** Events of the rooms and cameras in this time; empty if they cannot be read. */
  const marks = computed(() => events.value.value?.items.filter(concerns).slice(0, maxMarks) ?? [])

  /** Returns the input of the read: the streams, and the view with half of its length on each side. */
  function stretchOf(): ProcedureInput<'recordings.segments'> | undefined {
    if (streams.value.length === 0) return undefined
    const { from, to } = view.value
    const more = (to - from) / 2
    return {
      streams: [...streams.value],
      from: Math.max(0, Math.round(from - more)),
      to: Math.round(to + more),
      merge_ms: Math.round(Math.min(3_600_000, Math.max(1_500, (to - from) / 1_000))),
    }
  }

  function eventsInput(): ProcedureInput<'events.list'> | undefined {
    if (stretch.value === undefined) return undefined
    const { from, to } = stretch.value
    return { groups: ['devices', 'people', 'rooms'], from, to, limit: 500 }
  }

  function concerns({ room, subject: { type, id } }: EventEntry): boolean {
    return (
      rooms.value.has(room) || (type === 'room' && rooms.value.has(id)) || (type === 'device' && users.value.has(id))
    )
  }

  watchDebounced([streams, view], () => (stretch.value = stretchOf()), { debounce: restMs, maxWait: maxRestMs })
  usePolling(() => {
    if (view.value.to > Date.now() - 60_000) void segments.refresh()
  }, liveMs)

  /** Returns the start of the next span of a stream at or after a moment; undefined: none is known. */
  function nextAfter(key: string, at: number): number | undefined {
    const span = lanes.value.get(key)?.spans.find(({ to }) => to > at)
    return span === undefined ? undefined : Math.max(at, span.from)
  }

  /** Returns the end of the last span of a stream before a moment; undefined: none is known. */
  function lastBefore(key: string, at: number): number | undefined {
    const span = lanes.value.get(key)?.spans.findLast(({ from }) => from < at)
    return span === undefined ? undefined : Math.min(at, span.to)
  }

  return {
    lanes,
    marks,
    failed: segments.error,
    ready: computed(() => stretch.value === undefined || segments.value.value !== undefined),
    read: segments.refresh,
    nextAfter,
    lastBefore,
  }
}
