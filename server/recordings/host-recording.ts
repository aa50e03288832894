import { ConsoleError } from '../../shared/console/procedure.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { WantedRecording } from '../nodes/embedded/embedded-media-options.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { RecordingControl } from './recording-control.ts'

/** Needs of recording a room for its host. */
export interface HostRecordingParts {
  recordings: Pick<RecordingControl, 'start' | 'stop'>
  settings: () => Settings
  logger: NodeLogger
}

/**
 * A host of a room, as its node has found, wants it recorded, or no more. Resolves to whether that was done: not where the site leaves it to operators, or while a rule records it.
 * Never rejects.
 */
export async function recordForHost(
  { recordings, settings, logger }: HostRecordingParts,
  { roomId, on, by }: WantedRecording,
): Promise<boolean> {
  if (!settings().recording.hosts) return false
  const host = { by: 'host', name: by.userName } as const
  try {
    if (!on) return await recordings.stop({ roomId }, host)
    await recordings.start({ roomId }, host)
    return true
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof ConsoleError))
      logger.error({ err: error }, 'a room was not recorded for its host')
    return false
  }
}
