import type { RoomStanding } from './room-standing.ts'
import type { RouteName } from './route.ts'

/**
 * Right to a route of the node port. `anyone`: no proof. `holder`: the unguessable id in the path, known only to the
 * session's owner. Otherwise standings in the room, each proved by a join link, the host password, a session key, or
 * the room's number if that is enough.
 */
export type NodeRight = 'anyone' | 'holder' | readonly RoomStanding[]

/** Rights to every route of the node port. A route without an entry here, or an entry without a route, does not compile. */
export const nodeRoutes = {
  // Page and redirects to it: the token is in the fragment, which browsers do not send.
  'GET /': 'anyone',
  'GET /room': 'anyone',
  'GET /room/*': 'anyone',
  // Confirms that the device reaches this machine, and nothing else.
  'GET /reach/:token': 'anyone',
  // Facts about a room; the controller chooses the answer, and guesses are counted.
  'GET /entry/:room': 'anyone',
  // Upgrade to signalling, whose first message contains the proof.
  'GET /signal': 'anyone',
  'POST /whip/:room': ['member', 'host'],
  'POST /whep/:room/:stream': ['observer', 'member', 'host'],
  'PATCH /session/:id': 'holder',
  'DELETE /session/:id': 'holder',
} as const satisfies Readonly<Record<RouteName, NodeRight>>
export type NodeRoute = keyof typeof nodeRoutes

/** Standings that a join by signalling can give. */
export const joiners = ['member', 'host'] as const satisfies readonly RoomStanding[]
