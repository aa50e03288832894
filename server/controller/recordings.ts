import type { Logger } from 'pino'
import type { Settings } from '../../shared/settings.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import type { EventSink } from '../event-log/event-log.ts'
import { atLeast } from '../../shared/console/role-names.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import type { PlaybackPort } from '../recordings/playback/playback-port.ts'
import { openRecordingsFolder, type RecordingsFolder } from '../recordings/recordings-folder.ts'
import { SiteRecordings } from '../recordings/site-recordings.ts'
import { maySeeRecording } from '../recordings/visible-recordings.ts'
import type { Store } from '../store/store.ts'

/** Options of the recordings. */
interface RecordingsOptions {
  folder: RecordingsFolder
  store: Store
  settings: () => Settings
  pool: NodePool
  outgoing: Pick<OutgoingUsers, 'of'>
  sitePorts: () => readonly number[]
  events: EventSink
  logger: Logger
}

/** Composes the recordings of a site. */
export function siteRecordings({ outgoing, events, ...options }: RecordingsOptions): SiteRecordings {
  return new SiteRecordings({
    ...options,
    devicesOf: (roomId) => outgoing.of(roomId),
    event: (event) => events.append(event),
  })
}

/** Rules of who may watch, and the event that somebody does. */
export function playbackPort(settings: () => Settings, events: EventSink): PlaybackPort {
  return {
    mayWatch: ({ role }, { device }) => maySeeRecording(role, settings().recording.viewers, device),
    watched: ({ caller, stream, userName, at }) => {
      const { role, account, address } = caller
      const name = account === '' ? 'console key' : account
      events.append({
        kind: 'recording.watched',
        actor: { type: 'operator', name, address },
        subject: { type: 'recording', id: `${stream.roomId}/${stream.userId}`, name: userName },
        room: stream.roomId,
        params: { at, role: atLeast(role, 'operator') ? 'operator' : 'viewer' },
      })
    },
  }
}

/** Path of the recordings folder, prepared before the media programs start. */
export function recordingsFolder(given: string | undefined, dataFolder: string, store: Store): RecordingsFolder {
  return openRecordingsFolder(given, dataFolder, store)
}
