import type { OperationContract } from '../operation.ts'
import type { ApiName } from '../result-codes.ts'
import type { RouteName } from './route.ts'

/**
 * Right to a route of an API port that is not an operation. `anyone`: no proof; `holder`: the unguessable token in the
 * path.
 */
export type ApiPageRight = 'anyone' | 'holder'

/** Right to every route of an API port that is not an operation. A page without an entry here does not compile. */
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
    // Player page, the same for every token. It also reports that a stream has ended.
    'GET /live/:token': 'anyone',
    // Player pages without media. They contain the address of the media; its token is checked when the media is
    // requested.
    'GET /admin/record/recordPlayer.html': 'anyone',
    'GET /admin/live/rtmpPlayer.html': 'anyone',
    'GET /player/*': 'anyone',
  },
  device: { 'GET /openapi.json': 'anyone' },
} as const satisfies Readonly<Record<ApiName, Readonly<Record<RouteName, ApiPageRight>>>>

/** Pages that require a token in the path. */
export type HeldPage = {
  [P in keyof (typeof apiPages)['media']]: (typeof apiPages)['media'][P] extends 'holder' ? P : never
}[keyof (typeof apiPages)['media']]
/** Pages of the API ports that have their own handler. */
export type MountedPage = Exclude<{ [A in ApiName]: keyof (typeof apiPages)[A] }[ApiName], 'GET /openapi.json'>

/**
 * Returns the right required by an operation. `session`: the token of a session; `keyPair`: the key pair of a
 * credential among its parameters, if the contract requires no token.
 */
export function rightOf({ token }: Pick<OperationContract, 'token'>): 'session' | 'keyPair' {
  return token === null ? 'keyPair' : 'session'
}
