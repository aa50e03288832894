/**
 * Reason why the user is not in the room: the node's refusals and removals by name, and reasons of the page: `left`
 * (the user left), `endedByYou` (this user ended the meeting for everybody), `lost` (no connection for too long),
 * `unreachable` (no connection at all), `outdated` (another version).
 */
const endingReasons = [
  'left',
  'lost',
  'unreachable',
  'outdated',
  'kicked',
  'replaced',
  'closed',
  'ended',
  'endedByYou',
  'unauthorised',
  'hostPasswordWrong',
  'roomFull',
  'locked',
  'turnedAway',
  'removed',
  'noRoom',
  'deleted',
  'notOpenYet',
  'over',
  'taken',
  'tooMany',
  'busy',
  'other',
] as const
type EndingReason = (typeof endingReasons)[number]

/** Opening of a scheduled room. */
export interface Opening {
  opensAt: number
  startsAt: number
}

/** Outcome of a visit. */
export interface Ending {
  reason: EndingReason
  /** Message of the node, for `other`. */
  message: string
  /**
   * For `notOpenYet`: when the room opens, and its meeting starts, in milliseconds since the epoch by the clock of this
   * device.
   */
  opening?: Opening
}

/** Makes the ending for a reason of the node. */
export function endingOf(reason: string, message: string): Ending {
  const known = endingReasons.find((each) => each === reason)
  return { reason: known ?? 'other', message }
}
