import { type ActivityEntry, visitNames } from '../../../shared/console/activity.ts'
import { listOutgoingUsers } from '../../../shared/device-operations.ts'
import type { Observation } from '../observation.ts'
import { shownAnswer } from './redacted-answer.ts'
import { shownMessage } from './message.ts'
import { type Disclosing, type KnownNames, shownParameters, shownValue } from './redacted-parameters.ts'
import { shownMethod, shownPath } from './path.ts'

/** Fields of a request that depend on the caller's input. */
type Shown = Pick<ActivityEntry, 'method' | 'path' | 'credential' | 'room' | 'params' | 'msg' | 'reason' | 'answer'>

/** A request as it may be shown: its harmless values, and kind and length of all others. */
export function shownRequest(observation: Observation, known: KnownNames): Shown {
  const { operation, params } = observation
  const disclosing: Disclosing = { known, succeeded: observation.ret === 0, withheld: [] }
  const shownParams = shownParameters(operation, params, disclosing)
  const path = shownPath(observation.path)
  if (path !== observation.path) disclosing.withheld.push(observation.path)
  const { credential } = observation
  return {
    method: shownMethod(observation.method),
    path,
    credential: known.credential(credential) ? credential : '',
    room: shownRoom(observation, disclosing),
    params: shownParams,
    msg: shownMessage(observation.msg, disclosing.withheld),
    reason: shownMessage(observation.reason, disclosing.withheld),
    answer: shownAnswer(operation, observation.answer ?? '', disclosing),
  }
}

/** Operations whose success does not say that the room is there. */
const provesNothing: ReadonlySet<string> = new Set([listOutgoingUsers.name, visitNames.joinPage])

/** Empty where the parameter is not shown either. */
function shownRoom({ operation, room }: Observation, disclosing: Disclosing): string {
  const disclosure = provesNothing.has(operation) ? 'roomFilter' : 'room'
  return shownValue(disclosure, room, disclosing) === room ? room : ''
}
