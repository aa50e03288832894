import type { OperationContract } from '../operation.ts'
import type { ApiName } from '../result-codes.ts'
import type { RouteName } from './route.ts'

/** Right to what an API port answers besides its operations. */
export type ApiPageRight = 'anyone'

/** Rights to everything on an API port that is no operation. A page does not compile without a line here. */
export const apiPages = {
  media: {
    'GET /openapi.json': 'anyone',
    // Redirect to the room page, the same for every room number; visits are counted.
    'GET /jroom/': 'anyone',
  },
  device: { 'GET /openapi.json': 'anyone' },
} as const satisfies Readonly<Record<ApiName, Readonly<Record<RouteName, ApiPageRight>>>>

/** Pages of the APIs that come with their own code. */
export type MountedPage = Exclude<{ [A in ApiName]: keyof (typeof apiPages)[A] }[ApiName], 'GET /openapi.json'>

/**
 * Right to an operation, as its contract has it: the token of a session, or, where the contract wants none, the key pair of a credential among its parameters.
 */
export function rightOf({ token }: Pick<OperationContract, 'token'>): 'session' | 'keyPair' {
  return token === null ? 'keyPair' : 'session'
}
