import type { MediaSettings } from '../../../shared/media/media-settings.ts'
import type { AdmissionControl } from '../rooms/admission.ts'
import type { MediaRooms } from '../rooms/media-rooms.ts'
import type { Room } from '../rooms/room.ts'
import type { RoomRequests } from '../rooms/room-requests.ts'
import type { MediaSessions } from './media-sessions.ts'
import type { OfferQueue } from './offer-queue.ts'
import type { WhipWhepMedia } from './whip-whep-media.ts'

/** Needs of the media routes. */
export interface MediaRouteParts {
  rooms: Pick<MediaRooms, 'bySession'>
  admission: AdmissionControl
  requests: RoomRequests
  /** Media of a room: that of this server, or that of another node. */
  mediaOf: (room: Room) => WhipWhepMedia
  /** For offers: each costs some milliseconds, and they come in crowds. */
  offers: OfferQueue
  sessions: MediaSessions
  settings: () => MediaSettings
}
