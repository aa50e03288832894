import { z } from 'zod'

/**
 * Severity of a finding, the worst first. `error`: the node cannot serve rooms; `unsafe`: it can be abused; `notice`:
 * it works with limitations.
 */
export const findingSeverities = ['error', 'unsafe', 'notice'] as const
export type FindingSeverity = (typeof findingSeverities)[number]

/** Findings of a node's test. The sentence about the remedy of each is in `texts/en/console/nodeFindings.json`. */
export const nodeFindingCodes = [
  'wsUnreachable',
  'wsNotJanus',
  'apiSecretWrong',
  'versionOld',
  'pluginMissing',
  'stringIdsOff',
  'adminUnreachable',
  'adminNotJanus',
  'adminSecretWrong',
  'serversDiffer',
  'adminKeyWrong',
  'tokenSecretWrong',
  'tokenSecretMissing',
  'clockAhead',
  'clockBehind',
  'trialFailed',
  'tokenAuthOff',
  'adminOpen',
  'roomsCreatable',
  'camerasCreatable',
  'forwardingOpen',
  'recordingOpen',
  'roomOpen',
  'roomsUnguarded',
  'adminUnused',
  'eventsOff',
  'reclaimOff',
  'roomsListed',
  'dependenciesShown',
  'pluginsUnused',
] as const
export type NodeFindingCode = (typeof nodeFindingCodes)[number]

/** Problem of a node: an error, a risk, or a limitation. */
export const nodeFinding = z.strictObject({
  code: z.enum(nodeFindingCodes),
  severity: z.enum(findingSeverities),
  /** One sentence about the remedy. */
  message: z.string(),
  /** Values for the placeholders in braces in its sentence. */
  values: z.record(z.string(), z.string()),
})
export type NodeFinding = z.output<typeof nodeFinding>
