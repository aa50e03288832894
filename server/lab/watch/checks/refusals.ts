import { createOutgoingUser } from '../../../../shared/device-operations.ts'
import { createRoom, getMcu, getRoom } from '../../../../shared/media-operations.ts'
import type { ErrorName } from '../../../../shared/result-codes.ts'
import { contract, specification } from '../../conformance/verdict.ts'
import { type ClientCheck, judgeRepetitions } from '../check.ts'
import type { WatchedCall } from '../watched-call.ts'

/** Refusals that no repetition changes, apart from those with a check of their own. */
const final = [
  'noP2pPermission',
  'roomClosed',
  'neverAssigned',
  'userNotOnline',
  'userExists',
  'outgoingUserNotFound',
] as const
/** Failures that pass. */
const temporary = [
  'authenticationTimeout',
  'noNode',
  'nodeTimeout',
  'nodeOffline',
  'storage',
  'createUnavailable',
  'destroyUnavailable',
  'listUnavailable',
] as const

/** Checks of the behaviour after a refusal. */
export const refusalChecks: readonly ClientCheck[] = [
  {
    id: 'acceptsMissingRoom',
    source: specification('7.1'),
    fault: { operation: getRoom.name, ret: 404 },
    start: () => judgeRepetitions(isRoomMissing),
  },
  {
    id: 'acceptsRefusal',
    source: specification('7'),
    fault: { operation: getMcu.name, ret: 416 },
    start: () =>
      judgeRepetitions((call) => call.isParameterRefused || (hasFailedBy(call, final) && !isRoomMissing(call))),
  },
  {
    id: 'acceptsLimit',
    source: specification('7.1'),
    fault: { operation: createRoom.name, ret: 411 },
    start: () => judgeRepetitions((call) => isMedia(call) && hasFailedBy(call, ['licenceExpired', 'licenceExceeded'])),
  },
  {
    id: 'waitsAfterFailure',
    source: specification('7'),
    fault: { operation: '*', ret: 504 },
    start: () => judgeRepetitions((call) => hasFailedBy(call, temporary) && !isJoinFailed(call)),
  },
  {
    id: 'waitsAfterFailedJoin',
    source: contract('4'),
    fault: { operation: createOutgoingUser.name, ret: 427 },
    start: () => judgeRepetitions(isJoinFailed),
  },
]

function hasFailedBy(call: WatchedCall, names: readonly ErrorName[]): boolean {
  return names.some((name) => call.hasFailed(name))
}

function isMedia({ observation }: WatchedCall): boolean {
  return observation.api === 'media'
}

function isRoomMissing(call: WatchedCall): boolean {
  return call.hasFailed('roomNotFound')
}

function isJoinFailed(call: WatchedCall): boolean {
  return hasFailedBy(call, ['joinFailed', 'joinTimeout'])
}
