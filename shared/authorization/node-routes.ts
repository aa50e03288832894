import type { RoomStanding } from './room-standing.ts'
import type { RouteName } from './route.ts'

/**
 * Right to a route of the node port. `anyone`: no proof. `holder`: the unguessable id in the path, which only the
 * session's owner has. A list: the required standings in the room. A standing is proved by a join link, the host
 * password, a session key, or the number of a room that accepts its number as proof.
 */
export type NodeRight = 'anyone' | 'holder' | readonly RoomStanding[]

/**
 * Right to every route of the node port. A route without an entry here, or an entry without a route, does not compile.
 */
export const nodeRoutes = {
  // The page, and redirects to it. The token is in the fragment, which browsers do not send.
  'GET /': 'anyone',
  'GET /room': 'anyone',
  'GET /room/*': 'anyone',
  // Confirms only that the device reaches this machine.
  'GET /reach/:token': 'anyone',
  // Facts about a room. The controller chooses the response, and guesses are counted.
  'GET /entry/:room': 'anyone',
  // Upgrade to the signaling WebSocket, whose first message contains the proof.
  'GET /signal': 'anyone',
  'POST /whip/:room': ['member', 'host'],
  'POST /whep/:room/:stream': ['observer', 'member', 'host'],
  'PATCH /session/:id': 'holder',
  'DELETE /session/:id': 'holder',
} as const satisfies Readonly<Record<RouteName, NodeRight>>
export type NodeRoute = keyof typeof nodeRoutes

/** Standings that a participant who joins by signaling can have. */
export const joiners = ['member', 'host'] as const satisfies readonly RoomStanding[]
