import { encodeParameters } from '../../../clients/typescript/src/query.ts'
import type { OperationContract } from '../../../shared/operation.ts'
import type { HttpCall } from './http-call.ts'

/** Deviations of a call from the usual one: GET with all parameters in the query, and the token of the session. */
export interface CallOptions {
  /** Token; null: none. */
  token?: string | null
  /** Name of the token parameter; default: that of the specification. */
  tokenName?: string
  method?: string
  path?: string
  /** Place of the parameters; default: the query. */
  as?: 'query' | 'form' | 'json'
  /** Text at the end of the query, sent as it is. */
  query?: string
  /** Body, sent as it is; replaces the parameters. */
  body?: string
  headers?: Readonly<Record<string, string>>
}

/** Request without the parts that are the same for all calls of a client. */
export type CallRequest = Omit<HttpCall, 'base' | 'authorities' | 'deadlineMs'>

export type CallParameters = Readonly<Record<string, unknown>>

/** Builds the request of an operation. @param token token of the session */
export function callRequest(
  operation: OperationContract,
  given: CallParameters,
  { token: usual, ...options }: Omit<CallOptions, 'token'> & { token: string | null },
): CallRequest {
  const [usualName = 'access_token'] = operation.token ?? []
  const token = operation.token === null || usual === null ? {} : { [options.tokenName ?? usualName]: usual }
  const parameters = { ...given, ...token }
  const { as = 'query', path = operation.path, query = '', headers = {} } = options
  const inQuery = as === 'query' && options.body === undefined ? encodeParameters(parameters) : ''
  const target = [inQuery, query].filter((part) => part !== '').join('&')
  return {
    method: options.method ?? (as === 'query' && options.body === undefined ? 'GET' : 'POST'),
    target: target === '' ? path : `${path}?${target}`,
    headers: { ...(as !== 'query' && { 'Content-Type': contentTypes[as] }), ...headers },
    body:
      options.body ??
      (as === 'form' ? encodeParameters(parameters) : as === 'json' ? JSON.stringify(parameters) : undefined),
  }
}

const contentTypes = { form: 'application/x-www-form-urlencoded', json: 'application/json' } as const
