import type { ControlResult, Doer, WaitingRefusal } from '../../../shared/media/control.ts'
import { Problem } from '../base/problem.ts'
import type { Identity } from './member.ts'
import type { Room } from './room.ts'

/** Actions of the operator on people in a waiting room, equivalent to a host's actions. The controller records them. */

type Outcome = ControlResult<'admit_waiting'>

/** Admits one waiting user, or all if `userId` is undefined. */
export function admitWaiting(room: Room | undefined, userId: string | undefined): Outcome {
  const people: Doer[] = []
  return outcomeOf(people, () => {
    if (room === undefined) throw new Problem('noStream')
    room.waiting.letIn((identity) => people.push(nameOf(identity)), userId)
  })
}

/** Refuses a waiting user. */
export function refuseWaiting(room: Room | undefined, userId: string): Outcome {
  const people: Doer[] = []
  return outcomeOf(people, () => {
    if (room === undefined) throw new Problem('noStream')
    people.push(nameOf(room.waiting.turnAway(userId)))
  })
}

function outcomeOf(people: Doer[], act: () => void): Outcome {
  try {
    act()
    return { people, refusal: null }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { people, refusal: refusalOf(error) }
  }
}

function refusalOf({ refusal }: Problem): WaitingRefusal {
  if (refusal === 'noStream') return 'notWaiting'
  return refusal === 'locked' || refusal === 'roomFull' ? refusal : 'failed'
}

function nameOf({ userId, userName }: Identity): Doer {
  return { userId, userName }
}
