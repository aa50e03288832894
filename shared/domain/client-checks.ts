/**
 * Rules for clients of the APIs, which the lab checks while it watches a client. Titles are in
 * `texts/en/console/clientChecks.json`, the checks in `server/lab/watch/checks/`.
 */
export const clientCheckIds = [
  'signsDigest',
  'keepsToken',
  'renewsToken',
  'waitsAfterRefusedSignIn',
  'namesToken',
  'escapesPlus',
  'keepsSecret',
  'separatesLogin',
  'knowsOperations',
  'usesMethods',
  'declaresParameters',
  'sendsValidParameters',
  'escapesText',
  'namesContentType',
  'namesCallback',
  'readsRet',
  'acceptsMissingRoom',
  'acceptsRefusal',
  'acceptsLimit',
  'waitsAfterFailure',
  'waitsAfterFailedJoin',
  'createsOnce',
  'readsMcuFirst',
  'repeatsAddress',
  'deletesRooms',
  'awaitsAnswers',
  'reusesConnections',
  'limitsParallelCalls',
] as const
export type ClientCheckId = (typeof clientCheckIds)[number]

/** What was seen of a client: a call that breaks a rule counts more than those that follow it. */
export type ClientCheckOutcome = 'wrong' | 'unseen' | 'right'

export function clientCheckOutcome({ right, wrong }: { right: number; wrong: number }): ClientCheckOutcome {
  if (wrong > 0) return 'wrong'
  return right > 0 ? 'right' : 'unseen'
}
