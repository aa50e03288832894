import type { OperationContract } from '../operation.ts'
import type { ApiName } from '../result-codes.ts'
import type { RouteName } from './route.ts'

/** Right to a route of an API port that is not an operation. `holder`: requires the unguessable token in the path. */
export type ApiPageRight = 'anyone' | 'holder'

/** Rights to every such route of an API port. A page without an entry here does not compile. */
export const apiPages = {
  media: {
    'GET /openapi.json': 'anyone',
    // Redirect to the room page, the same for every room number; visits are counted.
    'GET /jroom/': 'anyone',
    // The unguessable token in the path refers to a stored capability, which is checked at each request.
    'GET /j/:code': 'holder',
    'GET /record/:file': 'holder',
    'GET /recorded/:token/:file': 'holder',
    'GET /live/:token/:file': 'holder',
    // Player page, the same for every token; it also shows that a stream has ended.
    'GET /live/:token': 'anyone',
    // Player pages without media. The token in the address of the played media is checked when the media is requested.
    'GET /admin/record/recordPlayer.html': 'anyone',
    'GET /admin/live/rtmpPlayer.html': 'anyone',
    'GET /player/*': 'anyone',
  },
  device: { 'GET /openapi.json': 'anyone' },
} as const satisfies Readonly<Record<ApiName, Readonly<Record<RouteName, ApiPageRight>>>>

/** Pages for holders of a token. */
export type HeldPage = {
  [P in keyof (typeof apiPages)['media']]: (typeof apiPages)['media'][P] extends 'holder' ? P : never
}[keyof (typeof apiPages)['media']]
/** Pages of the API ports with their own code. */
export type MountedPage = Exclude<{ [A in ApiName]: keyof (typeof apiPages)[A] }[ApiName], 'GET /openapi.json'>

/**
 * Returns the right to an operation according to its contract: the token of a session or, if the contract requires
 * none, the key pair of a credential among its parameters.
 */
export function rightOf({ token }: Pick<OperationContract, 'token'>): 'session' | 'keyPair' {
  return token === null ? 'keyPair' : 'session'
}
