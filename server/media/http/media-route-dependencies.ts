import type { MediaSettings } from '../../../shared/media/media-settings.ts'
import type { AdmissionControl } from '../rooms/admission.ts'
import type { MediaRooms } from '../rooms/media-rooms.ts'
import type { Room } from '../rooms/room.ts'
import type { RoomRequests } from '../rooms/room-requests.ts'
import type { MediaSessions } from './media-sessions.ts'
import type { OfferQueue } from './offer-queue.ts'
import type { WhipWhepMedia } from './whip-whep-media.ts'

export interface MediaRouteDependencies {
  rooms: Pick<MediaRooms, 'bySession'>
  admission: AdmissionControl
  requests: RoomRequests
  /** Returns the media of a room, on this server or on another node. */
  mediaOf: (room: Room) => WhipWhepMedia
  /** Queue for offers, which come in bursts and take some milliseconds each. */
  offers: OfferQueue
  sessions: MediaSessions
  settings: () => MediaSettings
}
