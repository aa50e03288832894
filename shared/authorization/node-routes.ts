import type { RoomStanding } from './room-standing.ts'
import type { RouteName } from './route.ts'

/**
 * Right to a route of the node port. `anyone`: nothing has to be proved. `holder`: whoever knows the unguessable id in the path, which was given to who opened the
 * session. Otherwise the standings in the room that it takes, each proved by a join link, the host password, a session key, or the room's number where that is enough.
 */
export type NodeRight = 'anyone' | 'holder' | readonly RoomStanding[]

/** Rights to every route of the node port. A route does not compile without a line here, nor a line without its route. */
export const nodeRoutes = {
  // Page and redirects to it: the token is in the fragment, which is not sent.
  'GET /': 'anyone',
  'GET /room': 'anyone',
  'GET /room/*': 'anyone',
  // Looks at a room; the controller words the answer, guesses are counted.
  'GET /entry/:room': 'anyone',
  // Upgrade to signalling, where the first message proves who it is.
  'GET /signal': 'anyone',
  'POST /whip/:room': ['member', 'host'],
  'POST /whep/:room/:stream': ['observer', 'member', 'host'],
  'PATCH /session/:id': 'holder',
  'DELETE /session/:id': 'holder',
} as const satisfies Readonly<Record<RouteName, NodeRight>>
export type NodeRoute = keyof typeof nodeRoutes

/** Standings that a join by signalling may give. */
export const joiners = ['member', 'host'] as const satisfies readonly RoomStanding[]
