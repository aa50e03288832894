import { authenticate, createRoom } from '../../../../shared/media-operations.ts'
import { success } from '../../../../shared/result-codes.ts'
import { isCallback } from '../../../http/answer.ts'
import { callbackName } from '../../../http/parameters.ts'
import { contract, specification } from '../../conformance/verdict.ts'
import type { ClientCheck } from '../check.ts'
import type { WatchedCall } from '../watched-call.ts'
import { isSecretName } from './sign-in.ts'

/** Parameters of every operation: the callback, and the number by which jQuery prevents caching. */
const everywhere: ReadonlySet<string> = new Set([callbackName, '_'])
/** Values of ids that a program writes without looking at the answer. */
const noId: ReadonlySet<string> = new Set(['undefined', 'null', 'NaN', 'None', '[object Object]'])
const idNames = ['room_id', 'roomId', 'user_id', 'userId', 'room_extend_id'] as const

const bodyTypes = ['application/x-www-form-urlencoded', 'application/json'] as const

/** Checks of single requests. */
export const requestChecks: readonly ClientCheck[] = [
  {
    id: 'knowsOperations',
    source: specification('4'),
    start: () => (call) => call.observation.operation !== '',
  },
  {
    id: 'usesMethods',
    source: specification('4'),
    start: () => (call) => call.contract?.methods.some((method) => method === call.observation.method),
  },
  {
    id: 'declaresParameters',
    source: specification('4'),
    start: () => (call) => {
      const { contract: operation, observation } = call
      if (operation === undefined) return undefined
      const declared = new Set([...Object.keys(operation.params.shape), ...(operation.token ?? [])])
      return [...observation.params.keys()].every(
        (name) => declared.has(name) || everywhere.has(name) || isSecretName(name),
      )
    },
  },
  {
    id: 'sendsValidParameters',
    source: specification('4'),
    start:
      ({ isRoom }) =>
      (call) => {
        const { contract: operation, observation } = call
        const hasOwnCheck = [isEscaped, hasBodyType, hasPlainCallback].some((judge) => judge(call) === false)
        if (operation === undefined || hasOwnCheck || call.isInjected) return undefined
        if (!operation.methods.some((method) => method === observation.method)) return undefined
        if (!call.isParameterRefused) return true
        // The identifier of an existing room is refused like a wrong parameter.
        return isRoom(call.text('room_extend_id') ?? '') ? undefined : false
      },
  },
  { id: 'escapesText', source: contract('1'), start: () => isEscaped },
  { id: 'namesContentType', source: contract('4'), start: () => hasBodyType },
  {
    id: 'namesCallback',
    source: contract('1'),
    start: () => hasPlainCallback,
  },
  {
    id: 'readsRet',
    source: specification('1'),
    fault: { operation: createRoom.name, ret: 700 },
    start: () => {
      let hasFailed = false
      return (call) => {
        if (idNames.some((name) => noId.has(call.text(name) ?? ''))) return false
        const wasFailed = hasFailed
        hasFailed = (call.is(createRoom) || call.is(authenticate)) && call.ret !== success && call.ret !== undefined
        return wasFailed ? true : undefined
      }
    },
  },
]

/** Whether the JSONP callback is a plain name; undefined: there is none. */
function hasPlainCallback(call: WatchedCall): boolean | undefined {
  const callback = call.text(callbackName)
  return callback === undefined ? undefined : isCallback(callback)
}

/** Whether the query with characters beyond ASCII is percent-encoded UTF-8; undefined: it has none. */
function isEscaped({ query }: WatchedCall): boolean | undefined {
  if (/[^\x21-\x7e]/.test(query)) return false
  if (!query.includes('%')) return undefined
  try {
    return /\P{ASCII}/u.test(decodeURIComponent(query)) ? true : undefined
  } catch {
    // An invalid escape, or bytes that are not UTF-8.
    return false
  }
}

/** Whether the body of a call of the device API has a known media type; undefined: there is no body. */
function hasBodyType({ observation, mediaType, contract: operation }: WatchedCall): boolean | undefined {
  if (mediaType === undefined || operation?.methods.includes('POST') !== true || observation.method !== 'POST')
    return undefined
  const [type = '', ...attributes] = mediaType.split(';').map((part) => part.trim())
  const charset = attributes.find((attribute) => attribute.startsWith('charset='))
  return bodyTypes.some((known) => known === type) && (charset === undefined || /=["]?utf-?8["]?$/.test(charset))
}
