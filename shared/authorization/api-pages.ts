import type { OperationContract } from '../operation.ts'
import type { ApiName } from '../result-codes.ts'
import type { RouteName } from './route.ts'

/** Right to a route of an API port that is not an operation. `holder`: the unguessable token in the path. */
export type ApiPageRight = 'anyone' | 'holder'

/** Rights to every such route of an API port. A page without an entry here does not compile. */
export const apiPages = {
  media: {
    'GET /openapi.json': 'anyone',
    // Redirect to the room page, the same for every room number; visits are counted.
    'GET /jroom/': 'anyone',
    // The unguessable token in the path opens a stored capability, which is checked at each request.
    'GET /j/:code': 'holder',
    'GET /record/:file': 'holder',
    'GET /recorded/:token/:file': 'holder',
    'GET /live/:token/:file': 'holder',
    // Player page, the same for every token: it says that a stream is over.
    'GET /live/:token': 'anyone',
    // Players for addresses of this site; each address has its own proof.
    'GET /admin/record/recordPlayer.html': 'anyone',
    'GET /admin/live/rtmpPlayer.html': 'anyone',
    'GET /player/*': 'anyone',
  },
  device: { 'GET /openapi.json': 'anyone' },
} as const satisfies Readonly<Record<ApiName, Readonly<Record<RouteName, ApiPageRight>>>>

/** Pages of people who hold a token. */
export type HeldPage = {
  [P in keyof (typeof apiPages)['media']]: (typeof apiPages)['media'][P] extends 'holder' ? P : never
}[keyof (typeof apiPages)['media']]
/** Pages of the APIs that have their own code. */
export type MountedPage = Exclude<{ [A in ApiName]: keyof (typeof apiPages)[A] }[ApiName], 'GET /openapi.json'>

/**
 * Right to an operation, from its contract: the token of a session or, if the contract needs none, the key pair of a credential among its parameters.
 */
export function rightOf({ token }: Pick<OperationContract, 'token'>): 'session' | 'keyPair' {
  return token === null ? 'keyPair' : 'session'
}
