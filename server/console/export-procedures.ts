import { RefusalError } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { tokenKinds } from '../../shared/tokens.ts'
import type { Capabilities } from '../capabilities/capabilities.ts'
import { type NewCapability, ofProgram } from '../capabilities/capability.ts'
import type { ExportJob } from '../recordings/export/export-job.ts'
import type { ExportJobs } from '../recordings/export/export-jobs.ts'
import { type RecordingEvent, recordedSubject } from '../recordings/recording-events.ts'
import type { RecordingIndex } from '../recordings/recording-index.ts'
import { actorOf, type CallOrigin, type ProcedureHandlers, makerOf, type ProceduresOf } from './handlers.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import type { RecordingStream } from '../../shared/domain/recordings.ts'
import { type ExportFailure, type ExportView, maxExportMs } from '../../shared/domain/recording-exports.ts'

export interface ExportProcedureDependencies {
  /** Export jobs; undefined: the recordings folder is unusable. */
  exports: ExportJobs | undefined
  /**
   * Returns the index of recordings.
   * @throws RefusalError recordingsUnusable
   */
  index: () => Pick<RecordingIndex, 'segments'>
  capabilities: Pick<Capabilities, 'make' | 'onEnd' | 'revoke'>
  log: Pick<SharedEventLog, 'append'>
}

export function exportHandlers({
  exports,
  index,
  capabilities,
  log,
}: ExportProcedureDependencies): ProcedureHandlers<ProceduresOf<'exports'>> {
  const usable = (): ExportJobs => {
    index()
    if (exports === undefined) throw new RefusalError(refusal('nothingHere'))
    return exports
  }
  const mine = ({ accountId = '' }: CallOrigin, id: string): boolean =>
    usable()
      .list(accountId)
      .some((job) => job.id === id)
  /** Binds an export to its capability, so that both end together. */
  const bind = async (
    job: string,
    made: Promise<NewCapability>,
    failed: (reason: ExportFailure) => void,
  ): Promise<void> => {
    try {
      const capability = await made
      capabilities.onEnd(capability, () => usable().end(job))
      usable().onEnd(job, (failure) => {
        if (failure !== undefined) failed(failure)
        // If the store fails, the capability expires on its own.
        void capabilities.revoke([capability.id], ofProgram).catch(() => undefined)
      })
    } catch (error) {
      usable().cancel(job)
      throw error
    }
  }
  return {
    'exports.start': async ({ streams, from, to, format, keep_gaps, picture, sound }, origin) => {
      const { accountId = '' } = origin
      if (to <= from) throw new RefusalError(refusal('spanEmpty'), { fields: ['to'] })
      if (to - from > maxExportMs) throw new RefusalError(refusal('spanTooLong', { days: 1 }), { fields: ['to'] })
      const wanted = streams.map(({ room_id, user_id, source, quality }) => ({
        ...{ roomId: room_id, userId: user_id, source, quality },
      }))
      const job = await usable().start(
        { streams: wanted, from, to, format, keepGaps: keep_gaps, picture, sound },
        accountId,
      )
      const [first] = streams
      const draft = {
        kind: 'export',
        room_id: first?.room_id ?? '',
        user_id: '',
        expires_at: Date.now() + tokenKinds.export.lifetime.ms,
      } as const
      const actor = actorOf(origin)
      const eventOf = ({ room_id, user_id }: RecordingStream): Omit<RecordingEvent, 'kind'> => ({
        subject: recordedSubject(index(), { roomId: room_id, userId: user_id, from, to }),
        room: room_id,
        params: { from, to, format },
      })
      const failed = (reason: ExportFailure): void => {
        const params = { from, to, format, count: streams.length, reason, made_by: actor.name }
        // An export of many streams causes only one event, with the first stream as its subject.
        for (const each of streams.slice(0, 1).map(eventOf))
          log.append({ ...each, kind: 'recording.exportFailed', level: 'warning', params })
      }
      await bind(job.id, capabilities.make(draft, makerOf(origin), job.id), failed)
      for (const each of streams.map(eventOf)) log.append({ ...each, kind: 'recording.exported', actor })
      return viewOf(job)
    },
    'exports.list': (_, { accountId = '' }) => ({ items: usable().list(accountId).map(viewOf) }),
    'exports.cancel': ({ id }, origin) => {
      if (mine(origin, id)) usable().cancel(id)
      return {}
    },
  }
}

function viewOf({
  id,
  state,
  progress,
  streams,
  from,
  to,
  format,
  name,
  bytes,
  unconverted,
  error,
  failure,
  lost,
  expiresAt,
  keepGaps,
  picture,
  sound,
}: ExportJob): ExportView {
  return {
    ...{ id, state, progress, from, to, format, name, bytes, unconverted, error },
    ...{ keep_gaps: keepGaps, picture, sound },
    ...(failure !== undefined && { failure }),
    ...(lost > 0 && { lost }),
    streams: streams.map(({ roomId, userId, source, quality }) => ({
      ...{ room_id: roomId, user_id: userId, source, quality },
    })),
    expires_at: expiresAt,
  }
}
