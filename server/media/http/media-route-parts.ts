import type { MediaSettings } from '../../../shared/media/media-settings.ts'
import type { CameraPulls } from '../feeds/camera-pulls.ts'
import type { AdmissionControl } from '../rooms/admission.ts'
import type { MediaRooms } from '../rooms/media-rooms.ts'
import type { RemoteRoomMedia } from '../rooms/remote-media.ts'
import type { RoomRequests } from '../rooms/room-requests.ts'
import type { PeerSettings } from '../webrtc/peer.ts'
import type { MediaSessions } from './media-sessions.ts'
import type { Turns } from './offer-queue.ts'

/** What the media routes work on. */
export interface MediaRouteParts {
  rooms: Pick<MediaRooms, 'bySession'>
  admission: AdmissionControl
  requests: RoomRequests
  remoteMedia: RemoteRoomMedia
  /** For offers: each costs some milliseconds, and they come in crowds. */
  turns: Turns
  pulls: CameraPulls
  sessions: MediaSessions
  peerSettings: () => PeerSettings
  settings: () => MediaSettings
}
