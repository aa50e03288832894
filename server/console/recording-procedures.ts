import { setImmediate } from 'node:timers/promises'
import type { RecordingRuleView } from '../../shared/console/recordings.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { RecordingRule } from '../../shared/recordings/recording-rule.ts'
import { objectProblemMessages } from '../../shared/recordings/object-storage.ts'
import { objectStorageSchema } from '../../shared/settings/recording.ts'
import { keepHiddenSecrets, type Settings } from '../../shared/settings.ts'
import { maySeeRecording, type StartedBy } from '../recordings/recording-control.ts'
import { recordedSubject } from '../recordings/recording-events.ts'
import { consoleStream, recordedStream } from '../recordings/kept-spans.ts'
import type { RecordedSource, SegmentQuery, SourceQuery } from '../recordings/recording-index.ts'
import type { SiteRecordings } from '../recordings/site-recordings.ts'
import { lackingSpans, spansOf, withOpenSegment } from '../recordings/time-line.ts'
import { versionOf } from '../store/record-edits.ts'
import type { Store } from '../store/store.ts'
import { actorOf, type CallOrigin, type ProcedureHandlers, type ProceduresOf } from './handlers.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import type { RecordingStream, RecordingTarget } from '../../shared/domain/recordings.ts'

/** Maximum span of a time line per call, in days. */
const maxDays = 31
const dayMs = 24 * 60 * 60_000
/** Maximum numbers of segments and of gaps per stream in one time line. */
const maxSegments = 50_000
const maxGaps = 2_000

export interface RecordingProcedureDependencies {
  recordings: SiteRecordings
  store: Store
  settings: () => Settings
  log: Pick<SharedEventLog, 'append'>
}

export function recordingHandlers(
  dependencies: RecordingProcedureDependencies,
): ProcedureHandlers<ProceduresOf<'recordings'>> {
  const { recordings, store, settings, log } = dependencies
  const sees = ({ role }: CallOrigin, device: boolean): boolean =>
    maySeeRecording(role, settings().recording.viewers, device)
  const seesTarget =
    (origin: CallOrigin) =>
    ({ device }: Pick<RecordingTarget, 'device'>): boolean =>
      sees(origin, device)
  /** Returns the streams that the caller may see. All other streams are treated as nonexistent. */
  const visible = (streams: readonly RecordingStream[], origin: CallOrigin): RecordingStream[] =>
    streams.filter((stream) => sees(origin, false) || sees(origin, isCamera(recordings, store, stream)))
  const rule = (roomId: string, userId = ''): RecordingRuleView => ruleView(dependencies, roomId, userId)
  return {
    'recordings.sources': ({ offset, limit, room_ids, ...query }, origin) => {
      const index = recordings.usable.index
      const filter: SourceQuery = { ...query, ...(room_ids === undefined ? {} : { roomIds: room_ids }) }
      if (!sees(origin, false)) filter.device = true
      if (!sees(origin, true) || (!sees(origin, false) && query.device === false)) return { total: 0, items: [] }
      const items = index.sources({ ...filter, offset, limit }).map((source) => sourceView(recordings, store, source))
      return { total: index.countSources(filter), items }
    },
    'recordings.segments': async ({ streams, from, to, merge_ms }, origin) => {
      checkSpan(from, to, maxDays)
      const items = []
      for (const stream of visible(streams, origin)) {
        items.push(timeLine(recordings, stream, { from, to, mergeMs: merge_ms }))
        await setImmediate()
      }
      return { items }
    },
    'recordings.pieces': ({ stream, from, to, limit }, origin) => {
      checkSpan(from, to, maxDays)
      if (visible([stream], origin).length === 0) return { items: [], more: false }
      const recorded = recordedStream(stream)
      const found = recordings.usable.index.segments({ ...recorded, from, to, limit: limit + 1 })
      const items = found.slice(0, limit).map((segment) => ({
        ...{ id: segment.id, from: segment.startedAt, to: segment.endedAt, bytes: segment.bytes },
        ...{ container: segment.container, video_codec: segment.videoCodec, audio_codec: segment.audioCodec },
        ...{ width: segment.width, height: segment.height, kept: segment.kept, end: segment.end },
        lacks: segment.lacks ?? [],
      }))
      // Segments recorded for live requests are not shown in time lines.
      if (recordings.orders.rooms.windowOf(recorded) !== undefined) return { items, more: found.length > limit }
      const open = recordings.usable.index.open({ ...recorded, from, to, limit: 4 }).map((segment) => ({
        ...{ id: segment.id, from: segment.startedAt, to: Math.max(Date.now(), segment.startedAt), bytes: 0 },
        ...{ container: segment.container, video_codec: segment.videoCodec, audio_codec: segment.audioCodec },
        ...{ width: segment.width, height: segment.height, kept: false, end: '' },
        lacks: segment.lacks ?? [],
      }))
      return { items: [...items, ...open], more: found.length > limit }
    },
    'recordings.keep': async ({ streams, from, to, note }, origin) => {
      checkSpan(from, to, maxDays * 12)
      void recordings.usable
      const kept = await recordings.kept.keep(streams, { from, to, note }, actorOf(origin).name)
      return { ...kept, streams: [...kept.streams] }
    },
    'recordings.unkeep': async ({ id }) => {
      void recordings.usable
      const { segments, bytes } = await recordings.kept.unkeep(id)
      return { segments, bytes }
    },
    'recordings.kept': ({ room_id }, origin) => {
      const spans = recordings.kept.list().map((keep) => ({ ...keep, streams: visible(keep.streams, origin) }))
      const ofRoom = ({ streams }: { streams: RecordingStream[] }): boolean =>
        streams.some((stream) => room_id === undefined || stream.room_id === room_id)
      return { items: spans.filter(ofRoom).slice(0, maxGaps) }
    },
    'recordings.delete': async ({ streams, from, to }, origin) => {
      checkSpan(from, to, 36_500)
      const index = recordings.usable.index
      // Names are deleted together with the recordings, so the names are read first.
      const subjects = streams.map(({ room_id, user_id }) => ({
        room: room_id,
        subject: recordedSubject(index, { roomId: room_id, userId: user_id, from, to }),
      }))
      const deleted = await recordings.usable.retention.deleteSpans(streams.map(recordedStream), from, to)
      for (const about of subjects) {
        const params = { from, to, segments: deleted.segments }
        log.append({ kind: 'recording.deleted', actor: actorOf(origin), ...about, params })
      }
      return deleted
    },
    'recordings.start': async ({ room_id, user_id }, origin) =>
      await recordings.start(manualRecordingOf(room_id, user_id), startedBy(origin)),
    'recordings.stop': async ({ room_id, user_id }, origin) => ({
      stopped: await recordings.stop(manualRecordingOf(room_id, user_id), startedBy(origin)),
    }),
    'recordings.states': ({ room_ids }, origin) => ({
      items: recordings.targets.list(room_ids).filter(seesTarget(origin)),
      streams: visible(
        recordings
          .recordedNow()
          .filter(({ roomId }) => room_ids?.includes(roomId) ?? true)
          .map(consoleStream),
        origin,
      ),
    }),
    'recordings.rule': ({ room_id, user_id }) => rule(room_id, user_id),
    'recordings.set_rule': async ({ room_id, user_id, rule: changed }) => {
      if (changed !== undefined) await putRule(store, room_id, user_id, changed)
      return rule(room_id, user_id)
    },
    'recordings.test_objects': async (given) => {
      const { object_storage } = keepHiddenSecrets({ object_storage: given }, settings())
      const result = await recordings.testObjects(objectStorageSchema.parse(object_storage))
      return { ...result, message: result.problem === null ? '' : objectProblemMessages[result.problem] }
    },
    'recordings.status': async (_, origin) => {
      await recordings.measured
      return recordings.health.status(seesTarget(origin))
    },
  }
}

function timeLine(
  recordings: SiteRecordings,
  stream: RecordingStream,
  { from, to, mergeMs }: { from: number; to: number; mergeMs: number },
) {
  const index = recordings.usable.index
  const recorded = recordedStream(stream)
  const query: SegmentQuery = { ...recorded, from, to }
  const segments = index.extents(recorded, from, to, maxSegments + 1)
  const gaps = index.gaps({ ...query, limit: maxGaps + 1 })
  const lacking = index.lacking(recorded, from, to, maxSegments)
  let spans = spansOf(segments.slice(0, maxSegments), mergeMs)
  if (recordings.orders.rooms.windowOf(recorded) === undefined) {
    for (const { startedAt, lacks } of index.open({ ...query, limit: 4 })) {
      const now = Math.min(Date.now(), to)
      spans = withOpenSegment(spans, startedAt, now, mergeMs)
      if (lacks !== undefined)
        lacking.push({ from: startedAt, to: Math.max(startedAt, now), tracks: JSON.stringify(lacks) })
    }
  }
  return {
    ...stream,
    spans,
    gaps: gaps.slice(0, maxGaps).map(({ from: began, to: ended, reason }) => ({ from: began, to: ended, reason })),
    lacks: lackingSpans(lacking, mergeMs),
    more: segments.length > maxSegments || gaps.length > maxGaps,
  }
}

function sourceView(recordings: SiteRecordings, store: Store, source: RecordedSource) {
  const { roomId, userId, device } = source
  return {
    ...consoleStream(source),
    user_name: source.userName,
    topic: source.topic,
    device,
    first_at: source.firstAt,
    last_at: source.lastAt,
    bytes: source.bytes,
    segments: source.segments,
    recording: recordings.intake?.isRecorded(source) ?? false,
    exists: device ? store.get('devices', userId) !== undefined : store.get('rooms', roomId) !== undefined,
  }
}

/** Whether only cameras were ever recorded in a stream. */
function isCamera(recordings: SiteRecordings, store: Store, stream: RecordingStream): boolean {
  const recorded = recordings.usable.index.source(recordedStream(stream))
  return recorded === undefined ? store.get('devices', stream.user_id) !== undefined : recorded.device
}

function ruleView({ recordings, store, settings }: RecordingProcedureDependencies, roomId: string, userId: string) {
  const room = store.get('rooms', roomId)
  if (room === undefined) throw new ApiError('roomNotFound')
  const device = userId === '' ? undefined : store.get('devices', userId)
  const { rooms, cameras } = settings().recording
  const own = (device === undefined ? room.recording : device.recording) ?? null
  const { name, canRecord } = recordings.orders.node(roomId)
  return {
    rule: own,
    effective: own ?? (device === undefined ? rooms : cameras),
    possible: canRecord,
    problem: canRecord ? '' : refusal('recordingImpossible', { node: name }).message,
    node: name,
    version: device === undefined ? versionOf('room', room) : versionOf('device', device),
  }
}

async function putRule(store: Store, roomId: string, userId: string | undefined, rule: RecordingRule | null) {
  if (userId === undefined) {
    await store.transact([`rooms/${roomId}`], (transaction) => {
      const room = store.get('rooms', roomId)
      if (room === undefined) throw new ApiError('roomNotFound')
      const { recording: _, ...others } = room
      transaction.put('rooms', roomId, rule === null ? others : { ...others, recording: rule })
    })
    return
  }
  await store.transact([`devices/${userId}`], (transaction) => {
    const device = store.get('devices', userId)
    if (device === undefined) throw new ApiError('outgoingUserNotFound')
    const { recording: _, ...others } = device
    transaction.put('devices', userId, rule === null ? others : { ...others, recording: rule })
  })
}

function checkSpan(from: number, to: number, days: number): void {
  if (to <= from) throw new RefusalError(refusal('spanEmpty'), { fields: ['to'] })
  if (to - from > days * dayMs + 3_600_000) throw new RefusalError(refusal('spanTooLong', { days }), { fields: ['to'] })
}

function manualRecordingOf(roomId: string, userId: string | undefined) {
  return userId === undefined ? { roomId } : { roomId, userId }
}

function startedBy(origin: CallOrigin): StartedBy {
  const { name, address } = actorOf(origin)
  return { by: 'operator', name, address }
}
