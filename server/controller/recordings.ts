import type { Logger } from 'pino'
import type { Settings } from '../../shared/settings.ts'
import type { EventActor } from '../../shared/domain/event-actor.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import type { EventSink } from '../event-log/event-log.ts'
import { atLeast } from '../../shared/domain/roles.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import type { PlaybackCaller, PlaybackPort } from '../recordings/playback/playback-port.ts'
import { recordingSubject } from '../recordings/recording-events.ts'
import { openRecordingsFolder, type RecordingsFolder } from '../recordings/recordings-folder.ts'
import { SiteRecordings } from '../recordings/site-recordings.ts'
import { maySeeRecording } from '../recordings/recording-control.ts'
import type { Store } from '../store/store.ts'

interface RecordingsOptions {
  folder: RecordingsFolder
  store: Store
  settings: () => Settings
  pool: NodePool
  outgoing: Pick<OutgoingUsers, 'byRoom'>
  sitePorts: () => readonly number[]
  events: EventSink
  logger: Logger
}

/** Composes the recordings of a site. */
export function siteRecordings({ outgoing, events, ...options }: RecordingsOptions): SiteRecordings {
  return new SiteRecordings({
    ...options,
    devicesOf: (roomId) => outgoing.byRoom.of(roomId),
    event: (event) => events.append(event),
  })
}

/** Returns the rules for who may watch recordings, and the recorder of the events of watching. */
export function playbackPort(store: Pick<Store, 'get'>, settings: () => Settings, events: EventSink): PlaybackPort {
  const actorOf = ({ account, address }: PlaybackCaller): EventActor => ({
    ...{ type: 'operator', name: account === '' ? 'console key' : account, address },
  })
  return {
    mayWatch: ({ role }, { device }) => maySeeRecording(role, settings().recording.viewers, device),
    watched: ({ caller, stream, userName, at }) => {
      events.append({
        kind: 'recording.watched',
        actor: actorOf(caller),
        subject: recordingSubject(stream.roomId, stream.userId, userName),
        room: stream.roomId,
        params: { at, role: atLeast(caller.role, 'operator') ? 'operator' : 'viewer' },
      })
    },
    downloaded: ({ caller, account, streams }) => {
      const room = streams[0]?.roomId ?? ''
      const madeBy = account === '' ? 'console key' : (store.get('accounts', account)?.name ?? '')
      events.append({
        kind: 'link.used',
        actor: actorOf(caller),
        subject: { type: 'room', id: room, name: store.get('rooms', room)?.topic ?? '' },
        room,
        params: { link: 'export', user: '', made_by: madeBy },
      })
    },
  }
}

/** Prepares the recordings folder, before the media programs start. */
export function recordingsFolder(given: string | undefined, dataFolder: string, store: Store): RecordingsFolder {
  return openRecordingsFolder(given, dataFolder, store)
}
